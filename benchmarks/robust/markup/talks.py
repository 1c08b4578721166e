"""The markup of sites for questions and talk, written for this project after their public pages."""

from __future__ import annotations

from benchmarks.robust.markup.engine import Engine

_NEWS = Engine(
    host="hackers.test",
    thread="/item?id={tid}",
    board="/front?p={bid}",
    user="/user?id={slug}",
    date="%B %d, %Y",
    page="""<html lang="en" op="item"><head><title>{title} | {site}</title></head><body><center>
<table id="hnmain" border="0" width="85%" bgcolor="#f6f6ef"><tr><td bgcolor="#ff6600"><table
border="0" width="100%"><tr><td style="width:18px"><a href="/"><img src="y18.svg"></a></td><td
style="line-height:12pt"><span class="pagetop"><b class="hnname"><a href="news">{site}</a></b><a
href="newest">new</a> | <a href="front">past</a> | <a href="newcomments">comments</a> | <a
href="ask">ask</a> | <a href="show">show</a></span></td><td style="text-align:right"><span
class="pagetop"><a href="login">login</a></span></td></tr></table></td></tr><tr
id="pagespace" title="{title}"></tr><tr><td>{main}</td></tr><tr><td><center><span
class="yclinks"><a href="guide.html">Guidelines</a> | <a href="faq.html">FAQ</a> | <a
href="lists">Lists</a></span></center></td></tr></table></center></body></html>""",
    posts="""{posts}</table></td></tr></table>""",
    first="""<table class="fatitem" border="0"><tr class="athing submission" id="{tid}"><td
align="right" valign="top" class="title"><span class="rank"></span></td><td valign="top"
class="votelinks"><center><a id="up_{tid}" href="vote?id={tid}"><div class="votearrow"></div></a>
</center></td><td class="title"><span class="titleline"><a href="item?id={tid}">{title}</a></span>
</td></tr><tr><td colspan="2"></td><td class="subtext"><span class="subline"><span class="score"
id="score_{tid}">{uid} points</span> by <a href="{user}" class="hnuser">{author}</a> <span
class="age" title="{when}"><a href="item?id={tid}">{date}</a></span> | <a
href="hide?id={tid}">hide</a></span></td></tr><tr><td colspan="2"></td><td><div
class="toptext">{text}</div></td></tr></table><br><table border="0" class="comment-tree"><tr>
<td><table border="0">""",
    post="""<tr class="athing comtr" id="{pid}"><td><table border="0"><tr><td class="ind"
indent="0"><img src="s.gif" height="1" width="0"></td><td valign="top" class="votelinks"><center><a
id="up_{pid}" href="vote?id={pid}"><div class="votearrow" title="upvote"></div></a></center></td>
<td class="default"><div style="margin-top:2px"><span class="comhead"><a href="{user}"
class="hnuser">{author}</a> <span class="age" title="{when}"><a
href="item?id={pid}">{date}</a></span> <span class="navs"> | <a href="#{pid}"
class="clicky">next</a> <a class="togg clicky" id="{pid}" href="javascript:void(0)">[–]</a></span>
</span></div><br><div class="comment"><div class="commtext c00">{text}</div><div class="reply"><p>
<font size="1"><u><a href="reply?id={pid}">reply</a></u></font></p></div></div></td></tr></table>
</td></tr>""",
    rows="""<table border="0">{rows}</table>""",
    row="""<tr class="athing submission" id="{tid}"><td class="title"><span class="rank">{n}.</span>
</td><td class="title"><span class="titleline"><a href="item?id={tid}">{title}</a></span></td></tr>
<tr><td></td><td class="subtext"><span class="subline"><span class="score">{uid} points</span> by <a
href="{user}" class="hnuser">{author}</a> <span class="age" title="{when}"><a
href="item?id={tid}">{date}</a></span> | <a href="item?id={tid}">{count} comments</a></span></td>
</tr>""",
)

_LINKS = Engine(
    host="oldlinks.test",
    thread="/r/part{bid}/comments/{tid}/{slug}/",
    board="/r/part{bid}/",
    user="/user/{slug}",
    date="%b %d %Y",
    page="""<html><head><title>{title} : {site}</title></head><body class="single-page
comments-page"><div id="header"><div id="sr-header-area"><ul class="flat-list sr-bar"><li><a
href="/r/popular">popular</a></li><li><a href="/r/all">all</a></li></ul></div><div
id="header-bottom-left"><a href="/" id="header-img">{site}</a><ul class="tabmenu"><li
class="selected"><a href="/new">comments</a></li></ul></div><div id="header-bottom-right"><span
class="user">Want to join? <a href="/login">Log in</a> or <a href="/register">sign up</a> in
seconds.</span></div></div><div class="side"><div class="spacer"><form action="/search"
id="search"><input name="q"></form></div><div class="titlebox"><h1 class="hover redditname"><a
href="/r/all">part</a></h1><span class="subscribers">1,204 readers</span><div class="md"><p>Be kind
to each other, and search before you post a question.</p></div></div></div><div class="content"
role="main">{main}</div><div class="footer-parent"><div class="footer rounded"><ul><li><a
href="/help">help</a></li><li><a href="/wiki/rules">site rules</a></li></ul></div></div></body>
</html>""",
    posts="""{posts}""",
    first="""<div id="siteTable" class="sitetable linklisting"><div
class="thing id-t3_{tid} odd link self" id="thing_t3_{tid}" data-author="{author}"><p
class="parent"></p><div class="midcol unvoted"><div class="arrow up"></div><div
class="score unvoted">{uid}</div><div class="arrow down"></div>
</div><div class="entry unvoted"><div class="top-matter"><p class="title"><a class="title"
href="{self}">{title}</a> <span class="domain">(<a href="/r/part{bid}/">self.part</a>)</span></p><p
class="tagline">submitted <time datetime="{when}">{date}</time> by <a href="{user}"
class="author may-blank">{author}</a></p></div><div class="expando"><form class="usertext"><div
class="usertext-body may-blank-within md-container"><div class="md"><p>{text}</p></div></div></form>
</div><ul class="flat-list buttons"><li class="first"><a href="{self}" class="comments">comments</a>
</li><li class="share"><a href="javascript:void(0)">share</a></li></ul></div></div></div><div
class="commentarea"><div class="panestack-title"><span class="title">all comments</span></div><div
class="sitetable nestedlisting">""",
    post="""<div class="thing id-t1_{pid} noncollapsed comment" id="thing_t1_{pid}"
data-author="{author}"><p class="parent"><a name="{pid}"></a></p><div class="midcol unvoted"><div
class="arrow up"></div><div class="arrow down"></div></div><div class="entry unvoted"><p
class="tagline"><a href="javascript:void(0)" class="expand">[–]</a><a href="{user}"
class="author may-blank">{author}</a> <span class="score unvoted">{uid} points</span> <time
datetime="{when}">{date}</time></p><form class="usertext"><div class="usertext-body
may-blank-within md-container"><div class="md"><p>{text}</p></div></div></form><ul
class="flat-list buttons"><li class="first"><a href="{self}{pid}/" class="bylink">permalink</a></li>
<li><a href="javascript:void(0)">save</a></li></ul></div><div class="child"><div
class="sitetable listing">""",
    rows="""<div id="siteTable" class="sitetable linklisting">{rows}</div>""",
    row="""<div class="thing id-t3_{tid} link" id="thing_t3_{tid}"><span class="rank">{n}</span><div
class="entry unvoted"><p class="title"><a class="title"
href="/r/part{bid}/comments/{tid}/{slug}/">{title}</a></p><p class="tagline">submitted <time
datetime="{when}">{date}</time> by <a href="{user}" class="author">{author}</a></p><ul
class="flat-list buttons"><li class="first"><a href="/r/part{bid}/comments/{tid}/{slug}/"
class="comments">{count} comments</a></li></ul></div></div>""",
)

_EXCHANGE_USER = """<div class="post-signature flex--item"><div class="s-user-card"><div
class="user-action-time">asked <span title="{when}" class="relativetime">{date}</span></div><div
class="user-gravatar32"><a href="{user}"><img src="/a.png"></a></div><div class="user-details"><a
href="{user}">{author}</a><div class="-flair"><span class="reputation-score">{uid}1</span><span
class="badgecount">{uid}</span></div></div></div></div>"""

_EXCHANGE = Engine(
    host="exchange.test",
    thread="/questions/{tid}/{slug}",
    board="/questions/tagged/{slug}",
    user="/users/{uid}/{slug}",
    date="%b %d, %Y at %H:%M",
    page="""<html class="html__responsive"><head><title>{title} - {site}</title></head><body
class="question-page unified-theme"><header class="s-topbar"><div class="s-topbar--container"><a
href="/" class="s-topbar--logo">{site}</a><ol class="s-navigation"><li><a href="/about">About</a>
</li></ol><form action="/search" class="s-topbar--searchbar"></form><ol class="s-topbar--content">
<li><a href="/users/login">Log in</a></li><li><a href="/users/signup">Sign up</a></li></ol></div>
</header><div class="container"><div id="left-sidebar"><ol class="nav-links"><li><a href="/"
class="-link">Home</a></li><li><a href="/questions">Questions</a></li><li><a href="/tags">Tags</a>
</li></ol></div><div id="content" class="snippet-hidden">{main}</div></div><footer
id="footer"><div class="site-footer--container"><a href="/help">Help</a><p>Site design and logo are
licensed under CC BY-SA.</p></div></footer></body></html>""",
    posts="""<div itemscope><div id="question-header"><h1 class="fs-headline1"><a href="{self}"
class="question-hyperlink">{title}</a></h1><div class="aside-cta"><a href="/questions/ask"
class="s-btn">Ask Question</a></div></div><div id="mainbar" role="main">{posts}</div></div></div>
""",
    first=f"""<div class="question js-question" data-questionid="{{tid}}" id="question"><div
class="post-layout"><div class="votecell post-layout--left"><div class="js-voting-container"><div
class="js-vote-count">{{uid}}</div></div></div><div class="postcell post-layout--right"><div
class="s-prose js-post-body"><p>{{text}}</p></div><div class="mt24"><ul class="post-taglist"><li><a
href="/questions/tagged/stone" class="s-tag post-tag">stone</a></li></ul></div><div class="mb0"><div
class="mt16"><div class="js-post-menu"><div class="flex--item"><a href="/q/{{tid}}"
class="js-share-link">Share</a></div><div class="flex--item"><a href="/posts/{{tid}}/edit">Improve
this question</a></div></div>{_EXCHANGE_USER}</div></div></div><div class="post-layout--right"><div
id="comments-{{tid}}" class="comments"><ul class="comments-list"></ul></div><div><a
class="js-add-link comments-link">Add a comment</a></div></div></div></div><div id="answers"><a
name="tab-top"></a><div id="answers-header"><h2 class="mb0">Answers</h2></div>""",
    post=f"""<a name="{{pid}}"></a><div id="answer-{{pid}}" class="answer js-answer"><div
class="post-layout"><div class="votecell post-layout--left"><div class="js-voting-container"><div
class="js-vote-count">{{uid}}</div></div></div><div class="answercell post-layout--right"><div
class="s-prose js-post-body"><p>{{text}}</p></div><div class="mt24"><div class="d-flex"><div
class="js-post-menu"><div class="flex--item"><a href="/a/{{pid}}" class="js-share-link">Share</a>
</div><div class="flex--item"><a href="/posts/{{pid}}/edit">Improve this answer</a></div></div>
{_EXCHANGE_USER.replace("asked", "answered")}</div></div></div><div
class="post-layout--right"><div id="comments-{{pid}}" class="comments"><ul class="comments-list">
</ul></div><div><a class="js-add-link comments-link">Add a comment</a></div></div></div></div>""",
    rows="""<h1 class="fs-headline1">{title}</h1><div id="questions">{rows}</div>""",
    row="""<div class="s-post-summary" id="question-summary-{tid}"><div
class="s-post-summary--stats"><span class="s-post-summary--stats-item-number">{count}</span> answers
</div><div class="s-post-summary--content"><h3 class="s-post-summary--content-title"><a
href="/questions/{tid}/{slug}" class="s-link">{title}</a></h3><div
class="s-post-summary--meta"><div class="s-user-card"><a href="{user}">{author}</a><time><span
title="{when}" class="relativetime">{date}</span></time></div></div></div></div>""",
)

_LEMMY = Engine(
    host="fediverse.test",
    thread="/post/{tid}",
    board="/c/part_{bid}",
    user="/u/{slug}",
    date="%d %b %Y",
    page="""<html><head><title>{title} - {site}</title></head><body><div id="root"><div id="app"
class="lemmy-site"><header class="mb-3"><nav id="navbar" class="navbar navbar-expand-md"><a
href="/" class="navbar-brand">{site}</a><ul class="navbar-nav"><li class="nav-item"><a
class="nav-link" href="/communities">Communities</a></li><li class="nav-item"><a class="nav-link"
href="/login">Login</a></li></ul></nav></header><div class="mt-4 p-0 fl-1"><div
class="container-lg">{main}</div></div><footer class="container-lg navbar"><ul
class="navbar-nav"><li><a href="/modlog">Modlog</a></li><li><a href="/instances">Instances</a></li>
</ul></footer></div></div></body></html>""",
    posts="""<div class="row"><main class="col-12 col-md-8 mb-3">{posts}</ul></div></main><aside
class="d-none d-md-block col-md-4"><section class="card border-secondary mb-3"><div
class="card-body"><h5 class="mb-0">part</h5><p>Everything about the old harbour and the boats in it.
</p><ul class="list-inline my-1"><li class="list-inline-item badge">{count} users / day</li></ul>
</div></section></aside></div>""",
    first="""<div class="post-listing mt-2"><article class="row post-container"><div class="col
flex-grow-1"><div class="row"><div class="col-12"><h1 class="h5 d-inline text-break">{title}</h1>
<div class="small mb-1 mb-md-0"><span class="person-listing"><a class="person-listing d-inline-flex"
href="{user}"><span>{author}</span></a></span> to <a class="community-link"
href="/c/part_{bid}">part</a> · <span class="moment-time pointer" title="{when}">{date}</span>
</div></div></div></div></article><article id="postContent" class="col-12 card my-2 p-2"><div
class="md-div"><p>{text}</p></div></article><ul class="list-inline mb-1 text-muted small"><li
class="list-inline-item"><a href="{self}">{uid} comments</a></li></ul></div><div
class="post-comments"><div class="btn-group btn-group-toggle"><label>Hot</label><label>New</label>
</div><ul class="comments">""",
    post="""<li class="comment list-unstyled" id="comment-{pid}"><article class="details
comment-node py-2 border-top border-light"><div class="ms-2"><div class="d-flex flex-wrap
align-items-center text-muted small"><button class="btn btn-sm">⊖</button><span
class="person-listing"><a class="person-listing d-inline-flex" href="{user}"><span>{author}</span>
</a></span><span class="me-lg-5 flex-grow-1"></span><span class="me-1">{uid}</span><span
class="moment-time pointer" title="{when}">{date}</span></div><div class="comment-content"><div
class="md-div"><p>{text}</p></div></div><div class="comment-bottom-btns d-flex"><a
class="btn btn-link" href="/comment/{pid}">link</a></div></div></article></li>""",
    rows="""<h4 class="community-title">{title}</h4><div class="post-listings">{rows}</div>""",
    row="""<div class="post-listing mt-2"><article class="row post-container"><div class="col"><div
class="post-title"><h5 class="d-inline"><a class="d-inline" href="/post/{tid}">{title}</a></h5>
</div><div class="small"><a class="person-listing" href="{user}">{author}</a> · <span
class="moment-time" title="{when}">{date}</span></div><a class="btn"
href="/post/{tid}">{count} comments</a></div></article></div>""",
)

_BUGS = Engine(
    host="reports.test",
    thread="/show_bug.cgi?id={tid}",
    board="/buglist.cgi?product=part{bid}",
    user="/user_profile?login={slug}",
    date="%Y-%m-%d %H:%M:%S UTC",
    page="""<html><head><title>{title}</title></head><body class="yui-skin-sam"><div
id="header"><div id="banner">{site}</div><table id="titles"><tr><td id="title"><p>{site}</p></td>
</tr></table><ul class="links"><li><a href="./">Home</a></li><li>| <a
href="enter_bug.cgi">New</a></li><li>| <a href="query.cgi">Search</a></li><li>| <a
href="createaccount.cgi">New Account</a></li></ul></div><div id="bugzilla-body">{main}</div><div
id="footer"><ul id="useful-links"><li id="links-actions"><ul class="links"><li><a
href="page.cgi?id=privacy.html">Legal</a></li></ul></li></ul></div></body></html>""",
    posts="""<form name="changeform" id="changeform" method="post"><div
class="bz_alias_short_desc_container edit_form"><a href="{self}"><b>Bug&nbsp;{tid}</b></a> - <span
id="short_desc_nonedit_display">{title}</span></div><table id="bug_head"><tr><td
id="bz_show_bug_column_1" class="bz_show_bug_column"><table><tr><th class="field_label"><a
href="page.cgi?id=fields.html">Status</a>:</th><td>NEW</td></tr><tr><th
class="field_label">Product:</th><td>part</td></tr></table></td></tr></table><table
id="bug_attachments"></table><div id="comments"><table class="bz_comment_table"><tr><td>{posts}</td>
</tr></table></div></form>""",
    post="""<div id="c{pid}" class="bz_comment"><div class="bz_comment_head"><span
class="bz_comment_actions">[<a class="bz_reply_link" href="#add_comment">reply</a>]</span><span
class="bz_comment_number"><a href="{self}#c{n}">Comment {n}</a></span><span
class="bz_comment_user"><span class="vcard"><a class="email" href="{user}"><span
class="fn">{author}</span></a></span></span><span class="bz_comment_user_images"></span><span
class="bz_comment_time">{date}</span></div><pre class="bz_comment_text"
id="comment_text_{pid}">{text}</pre></div>""",
    rows="""<table class="bz_buglist">{rows}</table>""",
    row="""<tr id="b{tid}" class="bz_bugitem bz_row_{parity}"><td class="first-child"><a
href="show_bug.cgi?id={tid}">{tid}</a></td><td class="bz_assigned_to">{author}</td><td
class="bz_short_desc"><a href="show_bug.cgi?id={tid}">{title}</a></td><td
class="bz_changeddate">{date}</td></tr>""",
)

TALKS: dict[str, Engine] = {
    "hackers": _NEWS,
    "oldlinks": _LINKS,
    "exchange": _EXCHANGE,
    "fediverse": _LEMMY,
    "reports": _BUGS,
}
