"""The markup of forum programs, written for this project after their public default themes.

Each engine has the addresses of a thread, a board and a user, and three templates of pages and
parts. Fields: ``site title tid bid uid pid n author date when text rows posts first_row``.
"""

from __future__ import annotations

from benchmarks.robust.markup.chinese import CHINESE
from benchmarks.robust.markup.engine import Engine
from benchmarks.robust.markup.modern import MODERN
from benchmarks.robust.markup.others import OTHERS
from benchmarks.robust.markup.tables import TABLES
from benchmarks.robust.markup.talks import TALKS

_PROSILVER = Engine(
    host="phpbb3.test",
    thread="/viewtopic.php?f={bid}&t={tid}",
    board="/viewforum.php?f={bid}",
    user="/memberlist.php?mode=viewprofile&u={uid}",
    date="%a %b %d, %Y %I:%M %p",
    page="""<html><head><title>{title} - {site}</title></head><body id="phpbb" class="nojs notouch
section-viewtopic ltr"><div id="wrap" class="wrap"><div id="page-header"><div class="headerbar">
<div id="site-description"><a id="logo" href="./index.php">logo</a><h1>{site}</h1>
<p>A place to talk</p></div></div><div class="navbar"><ul id="nav-main" class="nav-main linklist">
<li><a href="/app.php/help/faq">FAQ</a></li><li><a href="./ucp.php?mode=login">Login</a></li>
</ul></div></div><div id="page-body" class="page-body" role="main">{main}</div><div id="page-footer"
class="page-footer"><div class="copyright"><p>Powered by a bulletin board</p></div></div></div>
</body></html>""",
    posts="""<h2 class="topic-title"><a href="{self}">{title}</a></h2><div class="action-bar
bar-top"><a href="./posting.php?mode=reply&f={bid}&t={tid}" class="button">Post Reply</a>
<div class="pagination">{count} posts</div></div>{posts}<div class="action-bar bar-bottom">
<a href="./posting.php?mode=reply&f={bid}&t={tid}" class="button">Post Reply</a></div>""",
    post="""<div id="p{pid}" class="post has-profile bg{odd}"><div class="inner">
<dl class="postprofile" id="profile{pid}"><dt class="has-profile-rank no-avatar"><div
class="avatar-container"></div><a href="{user}" class="username">{author}</a></dt>
<dd class="profile-rank">Member</dd><dd class="profile-posts"><strong>Posts:</strong>
<a href="./search.php?author_id={uid}">{uid}3</a></dd><dd class="profile-joined">
<strong>Joined:</strong> Tue Jan 03, 2017 9:00 am</dd></dl><div class="postbody">
<div id="post_content{pid}"><h3 class="first"><a href="#p{pid}">Re: {title}</a></h3>
<ul class="post-buttons"><li><a href="./posting.php?mode=quote&p={pid}" title="Reply with quote"
class="button"><span>Quote</span></a></li></ul><p class="author"><a class="unread"
href="./viewtopic.php?p={pid}#p{pid}"><span class="sr-only">Post</span></a><span
class="responsive-hide">by <strong><a href="{user}" class="username">{author}</a></strong> »
</span><time datetime="{when}">{date}</time></p><div class="content">{text}</div></div></div>
<div class="back2top"><a href="#top" class="top">Top</a></div></div></div>
<hr class="divider">""",
    rows="""<h2 class="forum-title"><a href="{self}">{title}</a></h2><div class="forumbg">
<div class="inner"><ul class="topiclist topics">{rows}</ul></div></div>""",
    row="""<li class="row bg1"><dl class="row-item topic_read"><dt><div class="list-inner">
<a href="./viewtopic.php?f={bid}&t={tid}" class="topictitle">{title}</a><div
class="topic-poster">by <a href="{user}" class="username">{author}</a> » {date}</div></div></dt>
<dd class="posts">{count}</dd><dd class="views">{n}17</dd></dl></li>""",
)

_SUBSILVER = Engine(
    host="phpbb2.test",
    thread="/viewtopic.php?t={tid}",
    board="/viewforum.php?f={bid}",
    user="/profile.php?mode=viewprofile&u={uid}",
    date="%a %b %d, %Y %I:%M %p",
    page="""<html><head><title>{site} :: View topic - {title}</title></head><body><table
width="100%" cellpadding="10"><tr><td class="bodyline"><table width="100%"><tr><td><a
href="index.php"><img
src="templates/subSilver/images/logo_phpBB.gif"></a></td><td align="center" width="100%"><span
class="maintitle">{site}</span><br><span class="gen">A little text to describe your forum</span>
<table><tr><td><span class="mainmenu"><a href="faq.php" class="mainmenu">FAQ</a> <a
href="login.php" class="mainmenu">Log in</a></span></td></tr></table></td></tr></table>{main}
<div align="center"><span class="copyright">Powered by a bulletin board</span></div></td></tr>
</table></body></html>""",
    posts="""<table width="100%"><tr><td><a class="maintitle" href="{self}">{title}</a></td></tr>
</table><table class="forumline" width="100%" cellspacing="1"><tr><th class="thLeft">Author</th>
<th class="thRight">Message</th></tr>{posts}</table>""",
    post="""<tr><td width="150" align="left" valign="top" class="row{odd}"><span class="name">
<a name="{pid}"></a><b>{author}</b></span><br><span class="postdetails">Regular member<br><br>
<br>Joined: 05 Jan 2003<br>Posts: {uid}2<br>Location: Harbour</span><br></td><td
class="row{odd}" width="100%" height="28" valign="top"><table width="100%"><tr><td
width="100%"><a href="viewtopic.php?p={pid}#{pid}"><img src="icon_minipost.gif"></a><span
class="postdetails">Posted: {date}<span class="gen">&nbsp;</span>&nbsp; Post subject: {title}
</span></td><td valign="top" nowrap><a href="posting.php?mode=quote&p={pid}"><img
src="icon_quote.gif" alt="Reply with quote"></a></td></tr><tr><td colspan="2"><hr></td></tr><tr>
<td colspan="2"><span class="postbody">{text}</span><span class="gensmall"></span></td></tr>
</table></td></tr><tr><td class="row{odd}" width="150" align="left"><span class="nav"><a
href="#top" class="nav">Back to top</a></span></td><td class="row{odd}" width="100%" height="28"
valign="bottom" nowrap><table><tr><td><a href="{user}"><img src="icon_profile.gif"
alt="View user's profile"></a></td></tr></table></td></tr><tr><td class="spaceRow" colspan="2"
height="1"><img src="spacer.gif"></td></tr>""",
    rows="""<a class="maintitle" href="{self}">{title}</a><table class="forumline" width="100%">
<tr><th>Topics</th><th>Replies</th><th>Author</th><th>Last Post</th></tr>{rows}</table>""",
    row="""<tr><td class="row1" width="100%"><span class="topictitle"><a
href="viewtopic.php?t={tid}" class="topictitle">{title}</a></span></td><td class="row2"><span
class="postdetails">{count}</span></td><td class="row3"><span class="name"><a href="{user}">
{author}</a></span></td><td class="row3Right"><span class="postdetails">{date}<br><a
href="{user}">{author}</a></span></td></tr>""",
)

_SUBSILVER2 = Engine(
    host="subsilver2.test",
    thread="/viewtopic.php?f={bid}&t={tid}",
    board="/viewforum.php?f={bid}",
    user="/memberlist.php?mode=viewprofile&u={uid}",
    date="%a %b %d, %Y %I:%M %p",
    page="""<html><head><title>{site} &bull; View topic - {title}</title></head><body class="ltr">
<div id="wrapheader"><div id="logodesc"><h1>{site}</h1><span class="gen">A text</span></div><div
id="menubar"><a href="./ucp.php?mode=login">Login</a> <a href="/app.php/help/faq">FAQ</a></div>
</div><div id="wrapcentre">{main}</div><div id="wrapfooter"><span class="copyright">Powered by a
bulletin board</span></div></body></html>""",
    posts="""<div id="pageheader"><h2><a class="titles" href="{self}">{title}</a></h2></div>
<div id="pagecontent">{posts}</div>""",
    post="""<table class="tablebg" width="100%" cellspacing="1"><tr class="row{odd}"><td
align="center" valign="middle"><a name="p{pid}"></a><b class="postauthor">{author}</b></td><td
width="100%" height="25"><table width="100%"><tr><td class="gensmall" width="100%"><div
style="float: left;">&nbsp;<b>Post subject:</b> {title}</div><div style="float: right;"><a
href="./viewtopic.php?p={pid}#p{pid}"><img src="icon.gif"></a><b>Posted:</b> {date}&nbsp;</div>
</td></tr></table></td></tr><tr class="row{odd}"><td valign="top" class="profile"><table><tr><td
class="postdetails">Regular member</td></tr></table><span class="postdetails"><br><b>Joined:</b>
Sun Jan 05, 2003 1:00 pm<br><b>Posts:</b> {uid}2</span></td><td valign="top"><table width="100%"
cellspacing="5"><tr><td><div class="postbody">{text}</div><br clear="all"><br></td></tr></table>
</td></tr><tr class="row{odd}"><td class="profile"><strong><a href="#wrapheader">Top</a></strong>
</td><td><div class="gensmall" style="float: left;">&nbsp;<a href="{user}"><img src="p.gif"
alt="Profile"></a>&nbsp;</div></td></tr><tr><td class="spacer" colspan="2" height="1"><img
src="s.gif"></td></tr></table>""",
    rows=_SUBSILVER.rows,
    row=_SUBSILVER.row.replace("viewtopic.php?t={tid}", "viewtopic.php?f={bid}&t={tid}"),
)

_VBULLETIN3 = Engine(
    host="vbulletin3.test",
    thread="/showthread.php?t={tid}",
    board="/forumdisplay.php?f={bid}",
    user="/member.php?u={uid}",
    date="%m-%d-%Y, %I:%M %p",
    page="""<html><head><title>{title} - {site}</title></head><body><div align="center"><div
class="page"><div style="padding:0px 25px"><table class="tborder"><tr><td class="alt1" width="100%">
<div class="navbar"><a href="index.php">{site}</a></div></td></tr></table><div class="tborder"><td
class="vbmenu_control"><a href="faq.php">FAQ</a></td><td class="vbmenu_control"><a
href="search.php">Search</a></td></div>{main}<div class="smallfont" align="center">Powered by a
bulletin board</div></div></div></div></body></html>""",
    posts="""<table class="tborder"><tr><td class="alt1"><strong>{title}</strong></td></tr></table>
<div id="posts">{posts}<div id="lastpost"></div></div>""",
    post="""<div align="center"><div class="page" style="width:100%"><div style="padding:0px 25px">
<div id="edit{pid}" style="padding:0px 0px 6px 0px"><table class="tborder" id="post{pid}"
width="100%"><tr><td class="thead" style="font-weight:normal"><a name="post{pid}"><img
src="old.gif"></a> {date}</td><td class="thead" align="right">&nbsp;#<a
href="showpost.php?p={pid}&postcount={n}" id="postcount{pid}" name="{n}"><strong>{n}</strong></a>
</td></tr><tr valign="top"><td class="alt2" width="175"><div id="postmenu_{pid}"><a
class="bigusername" href="{user}">{author}</a></div><div class="smallfont">Junior Member</div><div
class="smallfont">&nbsp;<br><div>Join Date: Jan 2009</div><div>Posts: {uid}2</div></div></td><td
class="alt1" id="td_post_{pid}"><div id="post_message_{pid}">{text}</div></td></tr><tr><td
class="alt2"><img src="off.gif"></td><td class="alt1" align="right"><a
href="newreply.php?do=newreply&p={pid}"><img src="quote.gif" alt="Reply With Quote"></a></td></tr>
</table></div></div></div></div>""",
    rows="""<table class="tborder"><tr><td class="tcat">{title}</td></tr></table><table
class="tborder" id="threadslist"><tbody id="threadbits_forum_{bid}">{rows}</tbody></table>""",
    row="""<tr><td class="alt1" id="td_threadtitle_{tid}"><div><a
href="showthread.php?t={tid}" id="thread_title_{tid}">{title}</a></div><div class="smallfont"><span
onclick="x">{author}</span></div></td><td class="alt2"><div class="smallfont" style="text-align:
right">{date}<br>by <a href="{user}">{author}</a></div></td><td class="alt1" align="center"><a
href="misc.php?do=whoposted&t={tid}">{count}</a></td></tr>""",
)

_VBULLETIN4 = Engine(
    host="vbulletin4.test",
    thread="/showthread.php?{tid}-{slug}",
    board="/forumdisplay.php?{bid}-{slug}",
    user="/member.php?{uid}-{slug}",
    date="%m-%d-%Y, %I:%M %p",
    page="""<html><head><title>{title}</title></head><body><div class="above_body"><div id="header"
class="floatcontainer doc_header"><a href="forum.php" class="logo-image">{site}</a></div><div
id="navbar" class="navbar"><ul class="navtabs"><li><a href="forum.php">Forum</a></li><li><a
href="faq.php">FAQ</a></li></ul></div></div><div class="body_wrapper">{main}</div><div
class="below_body"><div class="footer_copyright">Powered by a bulletin board</div></div></body>
</html>""",
    posts="""<div id="pagetitle" class="pagetitle"><h1>Thread: <span class="threadtitle"><a
href="{self}">{title}</a></span></h1></div><div id="postlist" class="postlist restrain"><ol
id="posts" class="posts" start="1">{posts}</ol></div>""",
    post="""<li class="postbitlegacy postbitim postcontainer old" id="post_{pid}"><div
class="posthead"><span class="postdate old"><span class="date">{date}</span></span><span
class="nodecontrols"><a name="post{pid}" href="showthread.php?p={pid}#post{pid}"
class="postcounter">#{n}</a></span></div><div class="postdetails"><div class="userinfo"><div
class="username_container"><a class="username offline popupctrl" href="{user}">
<strong>{author}</strong></a></div><span class="usertitle">Senior Member</span><dl
class="userinfo_extra"><dt>Join Date</dt><dd>Jan 2010</dd><dt>Posts</dt><dd>{uid}2</dd></dl></div>
<div class="postbody"><div class="postrow has_after_content"><div class="content"><div
id="post_message_{pid}"><blockquote class="postcontent restore">{text}</blockquote></div></div>
</div></div></div><div class="postfoot"><div class="textcontrols floatcontainer"><span
class="postcontrols"><a class="newreply" href="newreply.php?p={pid}">Reply With Quote</a></span>
</div></div></li>""",
    rows="""<h1 class="header"><span class="forumtitle">{title}</span></h1><div id="threadlist"
class="threadlist"><ol class="threads" id="threads">{rows}</ol></div>""",
    row="""<li class="threadbit" id="thread_{tid}"><div class="rating0 nonsticky"><div
class="threadinfo"><div class="inner"><h3 class="threadtitle"><a class="title"
href="showthread.php?{tid}-{slug}" id="thread_title_{tid}">{title}</a></h3><div
class="threadmeta"><div class="author"><span class="label">Started by <a href="{user}"
class="username">{author}</a>, {date}</span></div></div></div></div></div></li>""",
)

_SMF = Engine(
    host="smf2.test",
    thread="/index.php?topic={tid}.0",
    board="/index.php?board={bid}.0",
    user="/index.php?action=profile;u={uid}",
    date="%B %d, %Y, %I:%M:%S %p",
    page="""<html><head><title>{title}</title></head><body id="chrome"><div id="wrapper"><div
id="header"><div class="frame"><div id="top_section"><h1 class="forumtitle"><a href="/index.php">
{site}</a></h1></div></div></div><div id="content_section"><div class="frame"><div
id="main_content_section">{main}</div></div></div><div id="footer_section"><ul class="reset"><li>
<a href="/help.php">Help</a></li></ul></div></div></body></html>""",
    posts="""<div id="forumposts"><div class="cat_bar"><h3 class="catbg">Topic: {title} &nbsp;(Read
{n}31 times)</h3></div><form action="/index.php?action=quickmod2;topic={tid}.0" method="post">
{posts}</form></div>""",
    post="""<div class="windowbg{odd}" id="msg{pid}"><span class="topslice"><span></span></span><div
class="post_wrapper"><div class="poster"><h4><a href="{user}" title="View the profile of
{author}">{author}</a></h4><ul class="reset smalltext"><li class="postgroup">Newbie</li><li
class="postcount">Posts: {uid}2</li></ul></div><div class="postarea"><div class="flow_hidden"><div
class="keyinfo"><h5 id="subject_{pid}"><a href="/index.php?topic={tid}.msg{pid}#msg{pid}">Re:
{title}</a></h5><div class="smalltext">&#171; <strong>Reply #{n} on:</strong> {date} &#187;</div>
</div></div><div class="post"><div class="inner" id="msg_{pid}">{text}</div></div></div><div
class="moderatorbar"><div class="smalltext modified"></div></div></div></div>""",
    rows="""<div class="cat_bar"><h3 class="catbg">{title}</h3></div><div
class="tborder topic_table" id="messageindex"><table class="table_grid"><tbody>{rows}</tbody>
</table></div>""",
    row="""<tr><td class="subject windowbg2"><div><span id="msg_{pid}"><a
href="/index.php?topic={tid}.0">{title}</a></span><p>Started by <a href="{user}">{author}</a></p>
</div></td><td class="stats windowbg">{count} Replies<br>{n}31 Views</td><td class="lastpost
windowbg2">{date}<br>by <a href="{user}">{author}</a></td></tr>""",
)

_XENFORO = Engine(
    host="xenforo.test",
    thread="/threads/{slug}.{tid}/",
    board="/forums/{slug}.{bid}/",
    user="/members/{slug}.{uid}/",
    date="%b %d, %Y",
    page="""<html id="XF" class="has-no-js template-thread_view"><head><title>{title} | {site}
</title></head><body><div class="p-pageWrapper"><header class="p-header"><a href="/">{site}</a>
</header><nav class="p-nav"><a href="/whats-new/">What's new</a><a href="/login/">Log in</a></nav>
<div class="p-body"><div class="p-body-inner">{main}</div></div><footer class="p-footer"><a
href="/help/terms/">Terms and rules</a></footer></div></body></html>""",
    posts="""<div class="p-body-header"><div class="p-title"><h1 class="p-title-value">{title}</h1>
</div></div><div class="p-body-main"><div class="p-body-content"><div class="p-body-pageContent">
<div class="block block--messages"><div class="block-container lbContainer"><div
class="block-body js-replyNewMessageContainer">{posts}</div></div></div></div></div></div>""",
    post="""<article class="message message--post js-post js-inlineModContainer"
data-author="{author}" id="js-post-{pid}"><span class="u-anchorTarget" id="post-{pid}"></span><div
class="message-inner"><div class="message-cell message-cell--user"><section class="message-user">
<div class="message-userDetails"><h4 class="message-name"><a href="{user}" class="username">
{author}</a></h4><h5 class="userTitle message-userTitle">New member</h5></div><div
class="message-userExtras"><dl class="pairs"><dt>Joined</dt><dd>Jan 5, 2019</dd></dl></div>
</section></div><div class="message-cell message-cell--main"><div class="message-main
js-quickEditTarget">
<header class="message-attribution"><ul class="message-attribution-main listInline"><li
class="u-concealed"><a href="/threads/{slug}.{tid}/post-{pid}" rel="nofollow"><time
class="u-dt" datetime="{when}">{date}</time></a></li></ul><ul
class="message-attribution-opposite"><li><a href="/threads/{slug}.{tid}/post-{pid}">#{n}</a></li>
</ul></header><div class="message-content js-messageContent"><div class="message-userContent
lbContainer"><article class="message-body js-selectToQuote"><div class="bbWrapper">{text}</div>
</article></div></div><footer class="message-footer"><div class="message-actionBar actionBar"><a
href="/posts/{pid}/react" class="actionBar-action">Like</a><a href="/posts/{pid}/reply">Reply</a>
</div></footer></div></div></div></article>""",
    rows="""<div class="p-title"><h1 class="p-title-value">{title}</h1></div><div
class="structItemContainer">{rows}</div>""",
    row="""<div class="structItem structItem--thread"><div class="structItem-cell
structItem-cell--main"><div class="structItem-title"><a href="/threads/{slug}.{tid}/">{title}</a>
</div><div class="structItem-minor"><ul class="structItem-parts"><li><a href="{user}"
class="username">{author}</a></li><li><time class="u-dt" datetime="{when}">{date}</time></li></ul>
</div></div><div class="structItem-cell structItem-cell--meta"><dl><dt>Replies</dt><dd>{count}</dd>
</dl></div></div>""",
)

_DISCOURSE = Engine(
    host="discourse.test",
    thread="/t/{slug}/{tid}",
    board="/c/{slug}/{bid}",
    user="/u/{slug}",
    date="%B %d, %Y, %I:%M%p",
    page="""<html><head><title>{title} - {site}</title></head><body class="crawler"><header><a
href="/">{site}</a></header><div id="main-outlet" class="wrap" role="main">{main}</div><footer
class="container wrap"><nav class="crawler-nav"><ul><li><a href="/">Home</a></li><li><a
href="/guidelines">Guidelines</a></li></ul></nav></footer></body></html>""",
    posts="""<div id="topic-title"><h1><a href="{self}">{title}</a></h1></div>{posts}""",
    post="""<div itemprop="comment" id="post_{n}" class="topic-body crawler-post"><div
class="crawler-post-meta"><span class="creator" itemprop="author"><a itemprop="url" href="{user}">
<span itemprop="name">{author}</span></a></span><span class="crawler-post-infos"><time
itemprop="datePublished" datetime="{when}" class="post-time">{date}</time><span
itemprop="position">{n}</span></span></div><div class="post" itemprop="text">{text}</div><div
itemprop="interactionStatistic"><span></span></div></div>""",
    rows="""<h1>{title}</h1><div class="topic-list-container"><table class="topic-list"><tbody>
{rows}</tbody></table></div>""",
    row="""<tr class="topic-list-item"><td class="main-link"><span class="link-top-line"><a
href="/t/{slug}/{tid}" class="title raw-link">{title}</a></span></td><td class="posters"><a
href="{user}"><img src="/a.png" alt="{author}"></a></td><td class="replies"><span>{count}</span>
</td><td>{date}</td></tr>""",
)

_BBPRESS = Engine(
    host="bbpress.test",
    thread="/forums/topic/{slug}/",
    board="/forums/forum/{slug}/",
    user="/forums/users/{slug}/",
    date="%B %d, %Y at %I:%M %p",
    page="""<html><head><title>{title} &#8211; {site}</title></head><body class="topic bbpress
wp-custom-logo"><div id="page" class="site"><header id="masthead" class="site-header"><p
class="site-title"><a href="/">{site}</a></p></header><div id="content" class="site-content"><main
id="main" class="site-main"><article class="page type-page"><header class="entry-header"><h1
class="entry-title">{title}</h1></header><div class="entry-content"><div id="bbpress-forums"
class="bbpress-wrapper">{main}</div></div></article></main></div><aside id="secondary"
class="widget-area"><section class="widget widget_recent_entries"><h2>Recent Posts</h2><ul><li><a
href="/hello/">Hello from us</a></li></ul></section></aside><footer id="colophon"
class="site-footer"><p>Proudly powered</p></footer></div></body></html>""",
    posts="""<ul id="topic-{tid}-replies" class="forums bbp-replies"><li class="bbp-header"><div
class="bbp-reply-author">Author</div><div class="bbp-reply-content">Posts</div></li><li
class="bbp-body">{posts}</li><li class="bbp-footer"><div class="bbp-reply-author">Author</div>
<div class="bbp-reply-content">Posts</div></li></ul>""",
    post="""<div id="post-{pid}" class="bbp-reply-header"><div class="bbp-meta"><span
class="bbp-reply-post-date">{date}</span><a href="{self}#post-{pid}" class="bbp-reply-permalink">
#{pid}</a></div></div><div class="loop-item-{n} user-id-{uid} bbp-parent-topic-{tid} {parity}
post-{pid} reply type-reply status-publish hentry"><div class="bbp-reply-author"><a href="{user}"
class="bbp-author-link"><span class="bbp-author-avatar"><img src="/a.png"></span><span
class="bbp-author-name">{author}</span></a><div class="bbp-author-role">Participant</div></div>
<div class="bbp-reply-content">{text}</div></div>""",
    rows="""<ul class="bbp-topics"><li class="bbp-body">{rows}</li></ul>""",
    row="""<ul class="loop-item-0 {parity} post-{tid} topic type-topic"><li class="bbp-topic-title">
<a class="bbp-topic-permalink" href="/forums/topic/{slug}/">{title}</a><p
class="bbp-topic-meta"><span class="bbp-topic-started-by">Started by: <a href="{user}">{author}</a>
</span></p></li><li class="bbp-topic-reply-count">{count}</li><li class="bbp-topic-freshness">
{date}</li></ul>""",
)

_WORDPRESS = Engine(
    host="guestbook.test",
    thread="/{bid}/{slug}/",
    board="/part/{slug}/",
    user="/member-{uid}/",
    date="%B %d, %Y at %I:%M %p",
    page="""<html><head><title>{title} &#8211; {site}</title></head><body class="post-template
single"><div id="page" class="site"><header class="site-header"><a href="/">{site}</a></header>
<main class="site-main">{main}</main><footer class="site-footer"><p>Proudly powered</p></footer>
</div></body></html>""",
    posts="""<h1 class="entry-title">{title}</h1><div id="comments" class="comments-area"><h2
class="comments-title">{count} thoughts</h2><ol class="comment-list">{posts}</ol></div>""",
    post="""<li id="comment-{pid}" class="comment {parity} thread-{parity} depth-1"><article
id="div-comment-{pid}" class="comment-body"><footer class="comment-meta"><div class="comment-author
vcard"><img src="/a.png"><b class="fn"><a href="{user}" class="url" rel="ugc">{author}</a></b>
<span class="says">says:</span></div><div class="comment-metadata"><a
href="{self}#comment-{pid}"><time datetime="{when}">{date}</time></a></div></footer><div
class="comment-content">{text}</div><div class="reply"><a rel="nofollow" class="comment-reply-link"
href="{self}?replytocom={pid}">Reply</a></div></article></li>""",
    rows="""<header class="page-header"><h1 class="page-title">{title}</h1></header>{rows}""",
    row="""<article class="post-{tid} post type-post"><h2 class="entry-title"><a
href="/{bid}/{slug}/" rel="bookmark">{title}</a></h2><div class="entry-meta">{date}</div>
</article>""",
)

ENGINES: dict[str, Engine] = {
    "phpbb3": _PROSILVER,
    "phpbb2": _SUBSILVER,
    "subsilver2": _SUBSILVER2,
    "vbulletin3": _VBULLETIN3,
    "vbulletin4": _VBULLETIN4,
    "smf2": _SMF,
    "xenforo": _XENFORO,
    "discourse": _DISCOURSE,
    "bbpress": _BBPRESS,
    "wordpress": _WORDPRESS,
    **MODERN,
    **TABLES,
    **CHINESE,
    **TALKS,
    **OTHERS,
}
