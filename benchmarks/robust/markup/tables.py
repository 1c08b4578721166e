"""The markup of older programs, mostly tables, and of pages of questions, wikis and phones.

Written for this project after their default themes.
"""

from __future__ import annotations

from benchmarks.robust.markup.engine import Engine

_JFORUM = Engine(
    host="jforum.test",
    thread="/jforum/posts/list/{tid}.page",
    board="/jforum/forums/show/{bid}.page",
    user="/jforum/user/profile/{uid}.page",
    date="%d/%m/%Y %H:%M:%S",
    page="""<html><head><title>{title}</title></head><body class="bodyline"><table width="100%"><tr>
<td><table width="100%" id="headerTable"><tr><td><a href="/jforum/forums/list.page"><img
src="logo.jpg"></a></td><td align="center" width="100%"><span
class="boardtitle">{site}</span><table>
<tr><td><span class="mainmenu"><a class="mainmenu" href="/jforum/search/filters.page">Search</a> <a
class="mainmenu" href="/jforum/user/list.page">Member Listing</a> <a class="mainmenu"
href="/jforum/user/login.page">Login</a></span></td></tr></table></td></tr></table></td></tr>
<tr><td>{main}</td></tr><tr><td align="center"><span class="copyright">Powered by a
forum</span></td></tr></table></body></html>""",
    posts="""<table class="forumline" width="100%"><tr><td><a class="maintitle" id="top"
href="{self}">{title}</a></td></tr></table><table class="forumline" width="100%"
cellspacing="1"><tr>
<th class="thleft">Author</th><th class="thright">Message</th></tr>{posts}</table>""",
    post="""<tr class="trPosts"><td colspan="2"><table width="100%" class="postInfo"><tr><td
width="13%" nowrap="nowrap"><a name="{pid}"></a><a class="nav"
href="/jforum/posts/preList/{tid}/{pid}.page"><img src="post.gif"></a><span
class="postdetails">{date}</span></td><td width="72%" class="subject"><span
class="postdetails"><b>Subject:</b> {title}</span></td><td width="15%" class="edit"><a
href="/jforum/posts/quote/0/{pid}.page" rel="nofollow" class="icon_quote"><img src="q.gif"></a></td>
</tr></table></td></tr><tr class="trPosts"><td class="row{odd}" rowspan="2"><span
class="genmed"><b><a
href="{user}" class="{parity}">{author}</a></b></span><br><span class="gensmall"><br><br>Joined:
05/01/2003<br>Messages: {uid}2<br>Offline<br></span></td><td class="row{odd}" valign="top"
id="post_text_{pid}"><span class="postbody">{text}</span>{sign}</td></tr><tr><td class="row{odd}"
valign="middle"><table><tr><td><a href="{user}"><img
src="p.gif"></a></td></tr></table></td></tr><tr>
<td class="spacerow" colspan="2" height="1"><img src="spacer.gif"></td></tr>""",
    signature="""<hr><span class="gensmall">{signature}</span>""",
    rows="""<span class="forumlink">{title}</span><table class="forumline" width="100%">{rows}
</table>""",
    row="""<tr class="bg_small_yellow"><td class="row1Announce"><span class="topictitle"><a
href="/jforum/posts/list/{tid}.page">{title}</a></span></td><td class="row2"><span
class="postdetails">{count}</span></td><td class="row3"><span class="name"><a href="{user}">{author}
</a></span></td><td class="row3"><span class="postdetails">{date}<br><a href="{user}">{author}</a>
</span></td></tr>""",
)

_PHORUM = Engine(
    host="phorum.test",
    thread="/read.php?{bid},{tid}",
    board="/list.php?{bid}",
    user="/profile.php?1,{uid}",
    date="%B %d, %Y %I:%M%p",
    page="""<html><head><title>{title}</title></head><body><div align="center"><div
class="PDDiv"><span class="PhorumTitleText PhorumLargeFont"><a href="/list.php?1">{site}</a></span>
<div class="PhorumNavBlock"><span class="PhorumNavHeading">Goto:</span> <a class="PhorumNavLink"
href="/index.php">Forum List</a>&bull;<a class="PhorumNavLink" href="/search.php">Search</a>&bull;<a
class="PhorumNavLink" href="/login.php">Log In</a></div>{main}<div id="phorum-footer">Powered by a
forum.</div></div></div></body></html>""",
    posts="""{posts}<div class="PhorumNavBlock"><a class="PhorumNavLink"
href="/posting.php?{bid},{tid}">Reply</a></div>""",
    post="""<div class="PhorumReadMessageBlock"><div class="PhorumStdBlock"><div
class="PhorumReadBodyHead"><strong>Re: {title}</strong></div><div class="PhorumReadBodyHead">Posted
by: <strong><a href="{user}">{author}</a></strong> (IP Logged)</div><div
class="PhorumReadBodyHead">Date: {date}</div><br><div class="PhorumReadBodyText">{text}{sign}</div>
<br></div><div class="PhorumReadNavBlock"><span class="PhorumNavHeading">Options:</span> <a
class="PhorumNavLink" href="/read.php?{bid},{tid},{pid}#REPLY">Reply To This Message</a>&bull;<a
class="PhorumNavLink" href="/posting.php?{bid},quote,{tid},{pid}">Quote</a></div></div>""",
    first="""<div class="PhorumReadMessageBlock"><div class="PhorumStdBlock"><div
class="PhorumReadBodySubject">{title}</div><div class="PhorumReadBodyHead">Posted by: <strong><a
href="{user}">{author}</a></strong> (IP Logged)</div><div class="PhorumReadBodyHead">Date: {date}
</div><br><div class="PhorumReadBodyText">{text}</div><br></div><div
class="PhorumReadNavBlock"><span class="PhorumNavHeading">Options:</span> <a class="PhorumNavLink"
href="/read.php?{bid},{tid},{pid}#REPLY">Reply To This Message</a></div></div>""",
    rows="""<h1 class="heading">{title}</h1><table class="PhorumStdTable">{rows}</table>""",
    row="""<tr><td class="PhorumTableRow"><a href="/read.php?{bid},{tid}">{title}</a></td><td
class="PhorumTableRow">{count}</td><td class="PhorumTableRow"><a href="{user}">{author}</a></td><td
class="PhorumTableRow">{date}</td></tr>""",
)

_FUDFORUM = Engine(
    host="fudforum.test",
    thread="/index.php?t=msg&th={tid}&start=0",
    board="/index.php?t=thread&frm_id={bid}",
    user="/index.php?t=usrinfo&id={uid}",
    date="%a, %d %B %Y %H:%M",
    page="""<html><head><title>{site}: {title}</title></head><body><div class="header"><h1>{site}
</h1><span class="headdescription">Talk of the harbour</span></div><div class="content"><table
class="wa"><tr><td class="UserControlPanel"><a class="UserControlPanel"
href="/index.php?t=search">Search</a> <a class="UserControlPanel"
href="/index.php?t=login">Login</a></td></tr></table><div class="GenText">{main}</div></div><div
class="footer"><p class="SmallText">Powered by a forum</p></div></body></html>""",
    posts="""<span class="GenText">Show: <a href="/index.php?t=selmsg">Today's Messages</a></span>
<table cellspacing="0" cellpadding="0" class="ContentTable"><tr><td>{posts}</td></tr></table>""",
    post="""<table cellspacing="0" cellpadding="0" class="MsgTable"><tr><td class="MsgR1 vt al
MsgSubText"><a name="msg_num_{n}"></a><a name="msg_{pid}"></a><a
href="/index.php?t=msg&th={tid}&goto={pid}#msg_{pid}" class="MsgSubText">{title}</a> <span
class="SmallText">[message #{pid}]</span></td><td class="MsgR1 vt ar"><span
class="DateText">{date}</span></td></tr><tr class="MsgR2"><td class="MsgR2" colspan="2"><table
cellspacing="0" class="ContentTable"><tr class="MsgR2"><td class="msgud"><img src="off.png"><a
href="{user}">{author}</a><br><b>Messages:</b> {uid}3<br><b>Registered:</b> June 2003</td><td
class="msgud"><div class="ctags">Junior Member</div></td></tr></table></td></tr><tr><td colspan="2"
class="MsgR3"><span class="MsgBodyText">{text}</span>{sign}</td></tr><tr><td colspan="2"
class="MsgToolBar"><table border="0" class="wa"><tr><td class="al nw"><a href="{user}"><img
src="about.png"></a></td><td class="GenText wa ac">&nbsp;</td><td class="nw"><a
href="/index.php?t=post&reply_to={pid}"><img
src="reply.png"></a></td></tr></table></td></tr></table>
""",
    signature="""<br><br><hr class="sig"><div class="signature">{signature}</div>""",
    rows="""<table cellspacing="1" class="ContentTable"><tr><th>{title}</th><th>Replies</th></tr>
{rows}</table>""",
    row="""<tr><td class="RowStyleA wo"><a class="big"
href="/index.php?t=msg&th={tid}&start=0">{title}</a><div class="TopBy">By: <a href="{user}">{author}
</a> on <span class="DateText">{date}</span></div></td><td class="RowStyleB
ac">{count}</td></tr>""",
)

_YABB = Engine(
    host="yabb.test",
    thread="/cgi-bin/yabb2/YaBB.pl?num={tid}",
    board="/cgi-bin/yabb2/YaBB.pl?board={slug}",
    user="/cgi-bin/yabb2/YaBB.pl?action=viewprofile;username={slug}",
    date="%b %dth, %Y at %I:%M%p",
    page="""<html><head><title>{site} - {title}</title></head><body><div id="maincontainer"><div
id="container"><table width="100%"><tr><td class="h_23px">Welcome, Guest. <a
href="/cgi-bin/yabb2/YaBB.pl?action=login">Login</a></td></tr></table><div id="nav"><a
href="/cgi-bin/yabb2/YaBB.pl">{site}</a></div>{main}<div class="mainbottom">Powered by a board</div>
</div></div></body></html>""",
    posts="""<div class="displaycontainer"><table class="bordercolor borderstyle"><tr><td
class="titlebg"><b>{title}</b> (Read {count}11 times)</td></tr></table>{posts}</div>""",
    post="""<div class="displaycontainer"><table class="bordercolor" width="100%"
cellpadding="4"><tr><td class="windowbg{odd}" rowspan="3" width="20%" valign="top"><a
name="{n}"></a><b><a href="{user}" rel="nofollow">{author}</a></b><br><span class="small">Junior
Member<br>Offline<br><br>Posts: {uid}1<br>Joined: Jan 4th, 2008</span></td><td class="windowbg{odd}"
valign="top"><div style="float:left;width:99%"><span class="small"><b>{title}</b><br>Reply #{n} -
{date}</span></div></td></tr><tr><td class="windowbg{odd}" valign="top"><div class="message"
style="float:left;width:99%">{text}</div></td></tr><tr><td class="windowbg{odd}">{sign}<span
class="small"><a href="/cgi-bin/yabb2/YaBB.pl?action=post;num={tid};quote={n}">Quote</a> | IP
Logged</span></td></tr></table></div>""",
    signature="""<div class="load_sig" style="float:left">{signature}</div>""",
    rows="""<table class="bordercolor"><tr><td class="catbg">{title}</td></tr>{rows}</table>""",
    row="""<tr><td class="windowbg2"><a
href="/cgi-bin/yabb2/YaBB.pl?num={tid}">{title}</a></td><td class="windowbg">{count}</td><td
class="windowbg2"><a href="{user}">{author}</a></td><td class="windowbg"><span
class="small">{date}<br>by <a href="{user}">{author}</a></span></td></tr>""",
)

_DRUPAL = Engine(
    host="drupal.test",
    thread="/node/{tid}",
    board="/forum/{bid}",
    user="/user/{uid}",
    date="%a, %m/%d/%Y - %H:%M",
    page="""<html><head><title>{title} | {site}</title></head><body class="html not-front
not-logged-in node-type-forum"><div id="page-wrapper"><div id="page"><div id="header"><div
id="site-name"><a href="/">{site}</a></div></div><div id="breadcrumb"><a
href="/">Home</a> &raquo; <a
href="/forum">Forums</a></div><div id="main-wrapper"><div id="content" class="column"><div
class="section">{main}</div></div><div id="sidebar-first" class="column sidebar"><div
id="block-user-login"
class="block block-user"><h2>User login</h2><ul><li><a href="/user/register">Create new
account</a></li><li><a
href="/user/password">Request new password</a></li></ul></div></div></div><div
id="footer">Powered by a system</div></div></div></body></html>""",
    posts="""<h1 class="title" id="page-title">{title}</h1><div class="region
region-content"><div id="block-system-main" class="block"><div class="content">{posts}</div></div>
</div></div>""",
    first="""<div id="node-{tid}" class="node node-forum node-full clearfix"><div class="meta
submitted"><span class="submitted">Submitted by <a href="{user}" class="username">{author}</a> on
{date}</span></div><div class="content clearfix"><div class="field field-name-body"><div
class="field-items"><div class="field-item even"><p>{text}</p></div></div></div></div><div
class="link-wrapper"><ul class="links inline"><li class="comment_forbidden first last"><a
href="/user/login">Log in</a> to post comments</li></ul></div></div><div id="comments"
class="comment-wrapper"><h2 class="title">Comments</h2>""",
    post="""<a id="comment-{pid}"></a><div class="comment comment-by-anonymous clearfix"><div
class="attribution"><div class="submitted"><p class="commenter-name"><a href="{user}"
class="username">{author}</a></p><p class="comment-time"><span>{date}</span></p><p
class="comment-permalink"><a href="/comment/{pid}#comment-{pid}" class="permalink">Permalink</a></p>
</div></div><div class="comment-text"><div class="comment-arrow"></div><h3><a
href="/comment/{pid}#comment-{pid}">{title}</a></h3><div class="content"><div class="field
field-name-comment-body"><div class="field-items"><div class="field-item even"><p>{text}</p></div>
</div></div>{sign}</div><ul class="links inline"><li><a href="/user/login">Log in</a> to post
comments</li></ul></div></div>""",
    signature="""<div class="user-signature clearfix">{signature}</div>""",
    rows="""<h1 class="title">{title}</h1><div id="forum"><table id="forum-topic-{bid}">{rows}
</table></div>""",
    row="""<tr class="{parity}"><td class="title"><div><a
href="/node/{tid}">{title}</a></div><div>By
<a href="{user}" class="username">{author}</a> {date}</div></td><td
class="replies">{count}</td></tr>
""",
)

_QUESTIONS = Engine(
    host="questions.test",
    thread="/{tid}/{slug}",
    board="/questions/part-{slug}",
    user="/user/{slug}",
    date="%b %d, %Y",
    page="""<html><head><title>{title} - {site}</title></head><body class="qa-template-question
qa-body-js-off"><div class="qa-body-wrapper"><div class="qa-header"><div class="qa-logo"><a href="/"
class="qa-logo-link">{site}</a></div><div class="qa-nav-user"><ul><li><a
href="/login">Login</a></li><li><a href="/register">Register</a></li></ul></div><div
class="qa-nav-main"><ul><li><a href="/questions">Questions</a></li><li><a href="/tags">Tags</a></li>
<li><a href="/users">Users</a></li><li><a href="/ask">Ask a Question</a></li></ul></div></div><div
class="qa-sidepanel"><div class="qa-sidebar">Welcome to our place, where you can ask questions and
receive answers from other members of the community.</div></div>{main}<div
class="qa-footer"><a href="/feedback">Send feedback</a></div></div></body></html>""",
    posts="""<div class="qa-main qa-main-question"><div class="qa-main-heading"><h1><a
href="{self}"><span class="entry-title">{title}</span></a></h1></div><div
class="qa-part-q-view">{posts}</div></div></div>""",
    first="""<div class="qa-q-view" id="q{tid}"><form method="post"><div
class="qa-q-view-stats"><div class="qa-voting"><span class="qa-netvote-count-data">0</span><span
class="qa-netvote-count-pad"> votes</span></div></div></form><div class="qa-q-view-main"><div
class="qa-q-view-content qa-post-content"><div class="entry-content">{text}</div></div><div
class="qa-q-view-tags"><ul class="qa-q-view-tag-list"><li class="qa-q-view-tag-item"><a
href="/tag/harbour" class="qa-tag-link">harbour</a></li></ul></div><span
class="qa-q-view-avatar-meta"><span class="qa-q-view-meta"><a href="{self}"
class="qa-q-view-what">asked</a> <span class="qa-q-view-when"><time
datetime="{when}">{date}</time></span> <span class="qa-q-view-who"><span
class="qa-q-view-who-pad">by </span><a href="{user}" class="qa-user-link">{author}</a></span></span>
</span></div></div></div><div class="qa-part-a-list"><h2 id="a_list_title">Answers</h2><div
class="qa-a-list" id="a_list">""",
    post="""<div class="qa-a-list-item" id="a{pid}"><form method="post"><div class="qa-voting"><span
class="qa-netvote-count-data">0</span><span class="qa-netvote-count-pad"> votes</span></div></form>
<div class="qa-a-item-main"><div class="qa-a-item-content qa-post-content"><a
name="{pid}"></a><div class="entry-content">{text}</div></div><span
class="qa-a-item-avatar-meta"><span class="qa-a-item-meta"><a href="{self}?show={pid}#a{pid}"
class="qa-a-item-what">answered</a> <span class="qa-a-item-when"><time
datetime="{when}">{date}</time></span> <span class="qa-a-item-who"><span
class="qa-a-item-who-pad">by
</span><a href="{user}" class="qa-user-link">{author}</a></span></span></span><div
class="qa-a-item-buttons"></div></div></div>""",
    rows="""<div class="qa-main"><h1>{title}</h1><div class="qa-q-list">{rows}</div></div>""",
    row="""<div class="qa-q-list-item" id="q{tid}"><div class="qa-q-item-stats"><span
class="qa-a-count">{count} answers</span></div><div class="qa-q-item-main"><div
class="qa-q-item-title"><a href="/{tid}/{slug}"><span title="x">{title}</span></a></div><span
class="qa-q-item-meta">asked {date} by <a href="{user}">{author}</a></span></div></div>""",
)

_PHONE = Engine(
    host="phone.test",
    thread="/index.php?topic={tid}.0;wap2",
    board="/index.php?board={bid}.0;wap2",
    user="/index.php?action=profile;u={uid};wap2",
    date="%B %d, %Y, %I:%M:%S %p",
    page="""<html><head><title>{title}</title></head><body>{main}<p class="windowbg"><a
href="/index.php?wap2" accesskey="0">[0] Home</a></p><p class="windowbg"><a
href="/index.php?action=login;wap2">Login</a></p></body></html>""",
    posts="""<p class="titlebg">{title}</p><p class="catbg">Pages: 1</p>{posts}<p
class="catbg">Navigate</p>""",
    post="""<p class="windowbg">{author}:<br><i>({date})</i><br>{text}</p>""",
    rows="""<p class="catbg">{title}</p>{rows}""",
    row="""<p class="windowbg"><a
href="/index.php?topic={tid}.0;wap2">{title}</a> - {author}</p>""",
)

_WIKI = Engine(
    host="wiki.test",
    thread="/doku.php?id=talk{bid}:{slug}",
    board="/doku.php?id=talk{bid}:start",
    user="/doku.php?id=user:{slug}",
    date="%Y/%m/%d %H:%M",
    page="""<html><head><title>{title} [{site}]</title></head><body><div id="dokuwiki__site"><div
id="dokuwiki__top" class="site dokuwiki mode_show tpl_dokuwiki"><div id="dokuwiki__header"><div
class="headings"><h1><a href="/doku.php?id=start">{site}</a></h1></div><div class="tools"><ul><li><a
href="/doku.php?do=login">Log In</a></li><li><a href="/doku.php?do=recent">Recent Changes</a></li>
</ul></div></div><div class="wrapper group"><div id="dokuwiki__content"><div class="page
group">{main}</div></div></div><div id="dokuwiki__footer"><div
class="license">Except where otherwise
noted, content on this wiki is licensed</div></div></div></div></body></html>""",
    posts="""<h1 class="sectionedit1">{title}</h1><div class="level1"></div><div
class="comment_wrapper" id="comment_wrapper"><h2><a name="discussion__section"
id="discussion__section">Discussion</a></h2><div class="level2">{posts}</div></div>""",
    post="""<div class="hentry"><div class="comment_head"><a name="comment_{pid}"
id="comment_{pid}"></a><span class="vcard author"><img src="/a.png" class="medialeft photo"><a
href="{user}" class="wikilink1 url fn">{author}</a></span>, <abbr class="published"
title="{when}">{date}</abbr></div><div class="comment_body entry-content"><p>{text}</p></div><div
class="comment_buttons"><a href="{self}&reply={pid}#discussion__comment_form">Reply</a></div></div>
""",
    rows="""<h1>{title}</h1><div class="level1"><ul>{rows}</ul></div>""",
    row="""<li class="level1"><div class="li"><a href="/doku.php?id=talk{bid}:{slug}"
class="wikilink1">{title}</a></div></li>""",
)

TABLES: dict[str, Engine] = {
    "jforum": _JFORUM,
    "phorum": _PHORUM,
    "fudforum": _FUDFORUM,
    "yabb": _YABB,
    "drupal": _DRUPAL,
    "questions": _QUESTIONS,
    "phone": _PHONE,
    "wiki": _WIKI,
}
