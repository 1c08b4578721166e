"""The markup of programs in use today, written for this project after their default themes."""

from __future__ import annotations

from benchmarks.robust.markup.engine import Engine

_VBULLETIN5 = Engine(
    host="vbulletin5.test",
    thread="/forum/talk/{bid}-{tid}-{slug}",
    board="/forum/talk-{bid}",
    user="/member/{uid}-{slug}",
    date="%m-%d-%Y, %I:%M %p",
    page="""<html><head><title>{title} - {site}</title></head><body id="vb-page-body"
class="l-desktop
page60 vb-page"><div id="outer-wrapper"><div id="wrapper"><header id="header"><div
class="b-top-background__header-mainnav"><a href="/">{site}</a><a href="/search">Search</a><a
href="/auth/login-form">Login or Sign Up</a></div></header><nav id="breadcrumbs"
class="b-breadcrumbs"><ol><li><a href="/forum">Forum</a></li></ol></nav><div id="content"><div
class="canvas-layout-container">{main}</div></div><footer id="footer"><nav><ul><li><a
href="/help">Help</a></li><li><a href="/contact-us">Contact Us</a></li></ul></nav><div
class="footer-copyright">Powered by a bulletin board</div></footer></div></div></body></html>""",
    posts="""<div class="b-module canvas-widget default-widget conversation-content-widget"><div
class="conversation-status-messages"></div><h1 class="main-title js-main-title">{title}</h1><div
class="conversation-content"><div class="conversation-toolbar-wrapper"><a class="b-button"
href="/auth/login-form">Post Reply</a></div><ul class="conversation-list list-container
h-clearfix thread-view">{posts}</ul></div></div>""",
    post="""<li data-node-id="{pid}" class="b-post b-post--threadview js-post js-comment-parent
h-restore-overflow" id="node{pid}"><a id="post{pid}" class="b-post__anchor"></a><div class="l-row
l-row__fixed--left"><div class="b-post__sidebar l-col__fixed--left"><div class="b-userinfo"><div
class="b-userinfo__avatar"><a href="{user}" class="b-avatar"><img src="/a.png"></a></div><div
class="b-userinfo__details"><div class="author h-text-size--14"><strong><a
href="{user}">{author}</a>
</strong></div><div class="usertitle">Member</div><ul class="b-userinfo__rank"><li
class="b-userinfo__additional-info"><label class="b-userinfo__additional-info-label">Join
Date:</label> <span>Jan 2014</span></li><li class="b-userinfo__additional-info"><label
class="b-userinfo__additional-info-label">Posts:</label> <span>{uid}4</span></li></ul></div></div>
</div><div class="l-col__flex-3"><div class="b-post__body"><div class="b-post__arrow"></div><div
class="b-post__content js-post__content"><hr class="b-divider--section"><div class="b-media"><div
class="b-media__img--rev"><a class="b-post__count js-show-post-link"
href="{self}?p={pid}#post{pid}">#{n}</a></div><div class="b-media__body"><h2 class="b-post__title
js-post-title">{title}</h2><div class="b-post__timestamp"><time datetime="{when}">{date}</time>
</div></div></div><div class="OLD__post-content h-padding-vert-xl"><div
class="js-post__content-text restore h-wordwrap">{text}</div>{sign}</div></div><div
class="b-post__footer h-hide-on-preview"><div class="b-divider"></div><ul class="h-right
js-post-controls b-post-control__list"><li class="b-post-control"><a href="#">Quote</a></li><li
class="b-post-control"><a href="#">Flag</a></li></ul></div></div></div></div></li>""",
    signature="""<div class="post-signature restore"><hr>{signature}</div>""",
    rows="""<h1 class="main-title">{title}</h1><table class="topic-list stretch"><tbody
class="topic-list-container">{rows}</tbody></table>""",
    row="""<tr class="topic-item"><td class="cell-topic"><div class="topic-wrapper"><a
href="/forum/talk/{bid}-{tid}-{slug}" class="topic-title js-topic-title">{title}</a></div><div
class="topic-info">Started by <a href="{user}">{author}</a>, <span class="date">{date}</span></div>
</td><td class="cell-count"><div class="posts-count">{count} responses</div></td><td
class="cell-lastpost"><div class="lastpost-by">by <a href="{user}">{author}</a></div><span
class="post-date">{date}</span></td></tr>""",
)

_INVISION = Engine(
    host="invision.test",
    thread="/topic/{tid}-{slug}/",
    board="/forum/{bid}-{slug}/",
    user="/profile/{uid}-{slug}/",
    date="%B %d, %Y",
    page="""<html><head><title>{title} - {site}</title></head><body class="ipsApp ipsApp_front
ipsJS_none ipsClearfix" data-controller="core.front.core.app"><div id="ipsLayout_header"><header><a
href="/" id="elLogo">{site}</a><ul id="elUserNav"><li id="cUserLink"><a href="/login/">Existing
user? Sign In</a></li><li><a href="/register/">Sign Up</a></li></ul></header></div><main
id="ipsLayout_body" class="ipsLayout_container"><div id="ipsLayout_contentArea"><div
id="ipsLayout_contentWrapper"><nav class="ipsBreadcrumb"><ul><li><a
href="/">Home</a></li></ul></nav>
<div id="ipsLayout_mainArea">{main}</div></div></div></main><footer id="ipsLayout_footer"><ul
class="ipsList_inline"><li><a href="/privacy/">Privacy Policy</a></li><li><a
href="/contact/">Contact Us</a></li></ul><p id="elCopyright">Powered by a community</p></footer>
</body></html>""",
    posts="""<div class="ipsPageHeader"><h1 class="ipsType_pageTitle"><span class="ipsType_break">
{title}</span></h1></div><div class="ipsClearfix"><ul class="ipsToolList"><li><a href="#replyForm"
class="ipsButton">Reply to this topic</a></li></ul></div><div
data-controller="core.front.core.commentFeed" class="cTopic ipsClear"><h2
class="ipsType_sectionTitle">{count} posts in this topic</h2><div data-role="commentFeed"
class="ipsAreaBackground_light ipsPad"><form action="/topic/{tid}/?do=multimod" method="post">
{posts}</form></div></div>""",
    post="""<a id="comment-{pid}"></a><article id="elComment_{pid}" class="cPost ipsBox
ipsComment ipsComment_parent ipsClearfix ipsClear"><aside class="ipsComment_author cAuthorPane
ipsColumn ipsColumn_medium"><h3 class="ipsType_sectionHead cAuthorPane_author"><strong><a
href="{user}" class="ipsType_break">{author}</a></strong></h3><ul class="cAuthorPane_info
ipsList_reset"><li class="cAuthorPane_photo"><a href="{user}"><img
src="/a.png"></a></li><li>Advanced
Member</li><li>Members</li><li><a href="{user}content/">{uid}7 posts</a></li></ul></aside><div
class="ipsColumn ipsColumn_fluid"><div id="comment-{pid}_wrap" class="ipsComment_content
ipsType_medium"><div class="ipsComment_meta ipsType_light"><div class="ipsType_reset"><a
href="{self}?do=findComment&amp;comment={pid}" class="ipsType_blendLinks">Posted <time
datetime="{when}">{date}</time></a></div></div><div class="cPost_contentWrap ipsPad"><div
data-role="commentContent" class="ipsType_normal ipsType_richText ipsContained"><p>{text}</p></div>
<div class="ipsItemControls"><ul class="ipsComment_controls ipsClearfix ipsItemControls_left"><li><a
href="#">Quote</a></li></ul></div></div>{sign}</div></div></article>""",
    signature="""<div data-role="memberSignature"
class="ipsType_richText"><p>{signature}</p></div>""",
    rows="""<div class="ipsPageHeader"><h1 class="ipsType_pageTitle">{title}</h1></div><ol
class="ipsDataList cForumTopicTable">{rows}</ol>""",
    row="""<li class="ipsDataItem"><div class="ipsDataItem_main"><h4 class="ipsDataItem_title"><span
class="ipsContained"><a href="/topic/{tid}-{slug}/" title="{title}"><span>{title}</span></a></span>
</h4><div class="ipsDataItem_meta">By <a href="{user}" class="ipsType_break">{author}</a>, <time
datetime="{when}">{date}</time></div></div><ul class="ipsDataItem_stats"><li>{count} replies</li>
</ul></li>""",
)

_WOLTLAB = Engine(
    host="woltlab.test",
    thread="/thread/{tid}-{slug}/",
    board="/board/{bid}-{slug}/",
    user="/user/{uid}-{slug}/",
    date="%B %d, %Y",
    page="""<html><head><title>{title} - {site}</title></head><body id="tpl_wbb_thread"
data-template="thread" class="wcfResponsive"><div id="pageContainer" class="pageContainer"><div
id="pageHeaderContainer"><header id="pageHeader"><nav id="topMenu"><ul><li id="userLogin"><a
href="/login/">Login or register</a></li></ul></nav><div class="mainMenu"><ol><li><a
href="/board-list/">Forum</a></li><li><a href="/members-list/">Members</a></li></ol></div></header>
</div><section id="main" class="main" role="main"><div class="layoutBoundary"><div id="content"
class="content">{main}</div></div></section><footer id="pageFooter"><div class="copyright">Forum
software</div></footer></div></body></html>""",
    posts="""<header class="contentHeader messageGroupContentHeader"><div
class="contentHeaderTitle">
<h1 class="contentTitle">{title}</h1><ul class="inlineList contentHeaderMetaData"><li>{count}
replies</li></ul></div></header><div class="section"><ul class="wbbThreadPostList messageList
jsClipboardContainer">{posts}</ul></div>""",
    post="""<li id="post{pid}" class="anchorFixedHeader"><article class="wbbPost message
messageSidebarOrientationLeft jsClipboardObject jsMessage userOnlineGroupMarking{odd}"><aside
role="presentation" class="messageSidebar member"><div class="messageAuthor"><div
class="userAvatar"><a href="{user}"><img src="/a.png"></a></div><div
class="messageAuthorContainer"><a href="{user}" class="username userLink">{author}</a></div><div
class="userTitle"><span class="badge userTitleBadge">Beginner</span></div></div><div
class="userCredits"><dl class="plain dataList"><dt><a href="/search/?u={uid}">Posts</a></dt>
<dd>{uid}1</dd></dl></div></aside><div class="messageContent"><header class="messageHeader"><div
class="messageHeaderBox"><ul class="messageHeaderMetaData"><li><a
href="{self}?postID={pid}#post{pid}"
class="permalink messagePublicationTime"><time datetime="{when}" class="datetime">{date}</time></a>
</li></ul></div><ul class="messageQuickOptions"><li><a href="{self}?postID={pid}#post{pid}"
class="jsButtonShare">#{n}</a></li></ul></header><div class="messageBody"><div
class="messageText"><p>{text}</p></div></div><footer class="messageFooter">{sign}<ul
class="messageFooterButtons buttonList smallButtons"><li><a href="#" class="button">Quote</a></li>
</ul></footer></div></article></li>""",
    signature="""<div class="messageSignature"><div><p>{signature}</p></div></div>""",
    rows="""<header class="contentHeader"><h1 class="contentTitle">{title}</h1></header><div
class="section tabularBox"><ol class="tabularList">{rows}</ol></div>""",
    row="""<li class="tabularListRow"><ol class="tabularListColumns wbbThread"><li
class="columnSubject"><h3><a href="/thread/{tid}-{slug}/" class="messageGroupLink wbbTopicLink">
{title}</a></h3><ul class="inlineList small"><li><a href="{user}" class="username">{author}</a></li>
<li><time datetime="{when}">{date}</time></li></ul></li><li class="columnStats"><dl><dt>Replies</dt>
<dd>{count}</dd></dl></li></ol></li>""",
)

_VANILLA_POST = """<div class="Item-Header CommentHeader"><div class="AuthorWrap"><span
class="Author"><a title="{author}" href="{user}" class="PhotoWrap"><img src="/a.png"></a><a
href="{user}" class="Username">{author}</a></span><span class="AuthorInfo"><span class="MItem
Rank">New</span></span></div><div class="Meta CommentMeta"><span class="MItem DateCreated"><a
href="/discussion/comment/{pid}#Comment_{pid}" class="Permalink" rel="nofollow"><time title="{date}"
datetime="{when}">{date}</time></a></span></div></div><div class="Item-BodyWrap"><div
class="Item-Body"><div class="Message userContent">{text}</div>{sign}<div class="Reactions"><a
href="/entry/signin" class="ReactButton">Flag</a></div></div></div>"""

_VANILLA = Engine(
    host="vanilla.test",
    thread="/discussion/{tid}/{slug}",
    board="/categories/{slug}",
    user="/profile/{uid}/{slug}",
    date="%B %Y",
    page="""<html><head><title>{title} - {site}</title></head><body id="vanilla_discussion_index"
class="Vanilla Discussion isDesktop index"><div id="Frame"><div class="Head" id="Head"><div
class="Row"><strong class="SiteTitle"><a href="/">{site}</a></strong><ul class="SiteMenu"><li><a
href="/discussions">Discussions</a></li><li><a href="/activity">Activity</a></li><li><a
href="/entry/signin">Sign In</a></li></ul></div></div><div id="Body"><div class="Row"><div
class="Column ContentColumn" id="Content">{main}</div><div class="Column PanelColumn"
id="Panel"><div class="Box GuestBox"><h4>Howdy, Stranger!</h4><p>It looks like you're new here. If
you want to get involved, click one of these buttons!</p></div></div></div></div><div
id="Foot">Powered by a forum</div></div></body></html>""",
    posts="""<div class="MessageList Discussion"><div
class="PageTitle"><h1>{title}</h1></div>{posts}
</ul></div></div>""",
    first=f"""<div id="Discussion_{{tid}}" class="Item ItemDiscussion"><div
class="Discussion">{_VANILLA_POST}</div></div></div><div class="CommentsWrap"><div class="DataBox
DataBox-Comments"><h2 class="CommentHeading">Comments</h2><ul class="MessageList DataList
Comments">""",
    post=f"""<li class="Item ItemComment" id="Comment_{{pid}}"><div
class="Comment">{_VANILLA_POST}</div></li>""",
    signature="""<div class="Signature UserSignature">{signature}</div>""",
    rows="""<h1 class="H HomepageTitle">{title}</h1><ul class="DataList Discussions">{rows}</ul>""",
    row="""<li id="Discussion_{tid}" class="Item ItemDiscussion"><div class="ItemContent
Discussion"><div class="Title"><a href="/discussion/{tid}/{slug}"
class="Title">{title}</a></div><div
class="Meta"><span class="MItem">{count} comments</span><span class="MItem">Started by <a
href="{user}">{author}</a></span><span class="MItem">{date}</span></div></div></li>""",
)

_FLARUM = Engine(
    host="flarum.test",
    thread="/d/{tid}-{slug}",
    board="/t/{slug}",
    user="/u/{slug}",
    date="%Y-%m-%d",
    page="""<html><head><title>{title} - {site}</title></head><body><div id="app" class="App"><div
id="app-navigation" class="App-navigation"></div><div id="drawer" class="App-drawer"><header
id="header" class="App-header"><div class="container"><div class="Header-title"><a href="/"
id="home-link">{site}</a></div></div></header></div><main class="App-content"><div
id="content"></div></main></div><noscript id="flarum-content"><div class="Alert"><div
class="container">This site is best viewed in a modern browser with JavaScript enabled.</div></div>
{main}</noscript></body></html>""",
    posts="""<div class="container"><h1>{title}</h1><div>{posts}</div></div>""",
    post="""<article><div class="PostUser"><h3 class="PostUser-name">{author}</h3></div><div
class="Post-body"><p>{text}</p></div></article><hr>""",
    rows="""<div class="container"><h2>{title}</h2><ul>{rows}</ul></div>""",
    row="""<li><a href="/d/{tid}-{slug}">{title}</a></li>""",
)

_WPFORO = Engine(
    host="wpforo.test",
    thread="/community/{bid}/{slug}/",
    board="/community/part-{slug}/",
    user="/participant/{slug}/",
    date="%d/%m/%Y %I:%M %p",
    page="""<html><head><title>{title} &#8211; {site}</title></head><body class="page wp-theme
wpf-default"><header class="site-header"><a href="/">{site}</a><nav><a
href="/community/?foro=signin">Login</a><a href="/about-us/">About us</a></nav></header><div
id="content"><article class="page"><div class="entry-content"><div id="wpforo"><div
id="wpforo-wrap" class="wpf-default"><div id="wpforo-menu"><ul><li><a
href="/community/">Forums</a></li><li><a href="/members/">Members</a></li></ul></div>{main}</div>
</div></div></article></div><footer>Proudly powered</footer></body></html>""",
    posts="""<div class="wpf-head-bar"><h1 id="wpforo-title">{title}</h1></div><div
class="wpforo-post-head"><div class="wpf-left">{count} Posts</div></div><div class="wpfl-1">{posts}
</div>""",
    post="""<div id="post-{pid}" data-postid="{pid}" class="post-wrap wpfn-{n}"><div
class="wpforo-post wpfcl-1"><div class="wpf-left"><div class="author-avatar"><img
src="/a.png"></div>
<div class="author-data"><div class="author-name"><span class="author-rating-color"></span><a
href="{user}" class="wpf-member">{author}</a></div><div
class="author-title">Eminent Member</div><div
class="author-joined">Joined: 7 years ago</div><div class="author-posts">Posts: {uid}5</div></div>
</div><div class="wpf-right"><div class="wpf-content-head"><div class="wpf-content-head-top"><span
class="wpf-post-link"><a href="{self}#post-{pid}"></a></span></div></div><div
class="wpf-content"><div class="wpforo-post-content"><p>{text}</p></div><div
class="wpforo-post-meta">{sign}</div></div><div class="wpforo-post-content-bottom"><div
class="cbleft wpfcl-0">Posted : {date}</div></div></div></div><div
class="wpforo-post-bottom"></div></div>""",
    signature="""<div class="wpforo-post-signature">{signature}</div>""",
    rows="""<h1 id="wpforo-title">{title}</h1><div class="wpforo-topic-content">{rows}</div>""",
    row="""<div class="topic-wrap"><div class="wpforo-topic"><div class="wpforo-topic-info"><p
class="wpforo-topic-title"><a href="/community/{bid}/{slug}/">{title}</a></p><p
class="wpforo-topic-start-info"><a href="{user}">{author}</a>, {date}</p></div><div
class="wpforo-topic-stat-posts">{count}</div></div></div>""",
)

MODERN: dict[str, Engine] = {
    "vbulletin5": _VBULLETIN5,
    "invision": _INVISION,
    "woltlab": _WOLTLAB,
    "vanilla": _VANILLA,
    "flarum": _FLARUM,
    "wpforo": _WPFORO,
}
