"""The markup of further forum programs, written for this project after their default themes."""

from __future__ import annotations

from benchmarks.robust.markup.engine import Engine

_V2 = Engine(
    host="nodes.test",
    thread="/t/{tid}",
    board="/go/part{bid}",
    user="/member/{slug}",
    date="%Y-%m-%d %H:%M:%S +08:00",
    language="zh",
    page="""<html lang="zh-CN"><head><title>{title} - {site}</title></head><body><div id="Top"><div
class="content"><div class="site-nav"><a href="/" name="top" class="logo">{site}</a><div
class="tools"><a href="/" class="top">首页</a><a href="/signup" class="top">注册</a><a
href="/signin" class="top">登录</a></div></div></div></div><div id="Wrapper"><div
class="content"><div
id="Leftbar"></div><div id="Rightbar"><div class="sep20"></div><div class="box"><div
class="cell"><strong>{site}</strong><div class="sep5"></div><span
class="fade">一个关于分享和探索的地方</span></div><div class="inner"><a href="/signup"
class="super normal button">现在注册</a></div></div>
</div><div id="Main"><div class="sep20"></div>{main}</div></div></div><div id="Bottom"><div
class="content"><div class="inner"><a href="/about" class="dark">关于</a> · <a href="/help"
class="dark">帮助文档</a></div></div></div></body></html>""",
    posts="""{posts}</div>""",
    first="""<div class="box" style="border-bottom:0"><div class="header"><div class="fr"><a
href="{user}"><img src="/a.png" class="avatar"></a></div><a href="/">首页</a> <span
class="chevron">&nbsp;›&nbsp;</span> <a href="/go/part{bid}">节点</a><div
class="sep10"></div><h1>{title}</h1><div id="topic_{tid}_votes" class="votes"><a
href="javascript:" class="vote"></a></div> &nbsp; <small class="gray"><a href="{user}">{author}</a>
· <span title="{date}">{date}</span> · {uid}7 次点击</small></div><div class="cell"><div
class="topic_content"><div class="markdown_body"><p>{text}</p></div></div></div></div><div
class="sep20"></div><div class="box"><div class="cell"><span class="gray">回复</span></div>""",
    post="""<div id="r_{pid}" class="cell"><table cellpadding="0" cellspacing="0" border="0"
width="100%"><tr><td width="48" valign="top" align="center"><img src="/a.png" class="avatar"></td>
<td width="10" valign="top"></td><td width="auto" valign="top" align="left"><div class="fr">
<div id="thank_area_{pid}" class="thank_area"></div> &nbsp; <span class="no">{n}</span></div><div
class="sep3"></div><strong><a href="{user}" class="dark">{author}</a></strong><div
class="badges"></div>&nbsp; &nbsp;<span class="ago" title="{date}">{date}</span><div class="sep5">
</div><div class="reply_content">{text}</div></td></tr></table></div>""",
    rows="""<div class="box"><div class="header"><h1>{title}</h1></div>{rows}</div>""",
    row="""<div class="cell from_{uid} t_{tid}"><table width="100%"><tr><td width="48"><a
href="{user}"><img src="/a.png" class="avatar"></a></td><td width="auto"><span
class="item_title"><a href="/t/{tid}#reply{count}" class="topic-link">{title}</a></span><div
class="sep5"></div><span class="topic_info"><strong><a href="{user}">{author}</a></strong> · <span
title="{date}">{date}</span></span></td><td width="70"><a href="/t/{tid}#reply{count}"
class="count_livid">{count}</a></td></tr></table></div>""",
)

_TOUCH = Engine(
    host="touch.test",
    thread="/forum.php?mod=viewthread&tid={tid}&mobile=2",
    board="/forum.php?mod=forumdisplay&fid={bid}&mobile=2",
    user="/home.php?mod=space&uid={uid}&do=profile&mobile=2",
    date="%Y-%m-%d %H:%M",
    language="zh",
    page="""<html><head><title>{title} - {site} - 手机版</title></head><body id="forum"
class="pg_viewthread"><header class="header"><div class="nav"><div class="category"><a
href="forum.php?mobile=2" class="z">{site}</a><ul class="y"><li><a
href="search.php?mod=forum&mobile=2">搜索</a></li><li><a
href="member.php?mod=logging&action=login&mobile=2">登录</a></li></ul></div></div></header>{main}
<div class="footer"><div><a href="forum.php?mobile=1">标准版</a> | <a
href="forum.php?mobile=no">电脑版</a></div><p>论坛程序</p></div></body></html>""",
    posts="""<div class="postlist"><h2><a
href="forum.php?mod=forumdisplay&fid={bid}&mobile=2">[版块]</a> {title}</h2>{posts}<div
id="post_new"></div><div class="plc cl"><form method="post" action="forum.php?mod=post"><ul
class="fastpost"><li><input type="text" value="我也说一句"></li></ul>
</form></div></div>""",
    post="""<div class="plc cl" id="pid{pid}"><span class="avatar"><img src="/a.png"
style="width:32px"></span><div class="display pi" href="#replybtn_{pid}"><ul class="authi"><li
class="grey"><em>{n}#</em><b><a href="{user}" class="blue">{author}</a></b></li><li
class="grey rela">{date}</li></ul><div class="message">{text}</div><div id="replybtn_{pid}"
class="replybtn" display="true" style="display:none"><input type="button" value="回复"></div></div>
</div>""",
    rows="""<div class="threadlist"><h2>{title}</h2><ul>{rows}</ul></div>""",
    row="""<li><a href="forum.php?mod=viewthread&tid={tid}&mobile=2">{title}<span
class="by">{author}</span></a><span class="num">{count}</span></li>""",
)

_ANSWERS = Engine(
    host="answers.test",
    thread="/question/{tid}",
    board="/topic/{bid}/hot",
    user="/people/{slug}",
    date="%Y-%m-%d %H:%M",
    language="zh",
    page="""<html lang="zh"><head><title>{title} - {site}</title></head><body class="Body-Web"><div
id="root"><div class="App"><div class="css-s8xum0"><header class="Sticky AppHeader css-0"><div
class="AppHeader-inner css-1vpk8s1"><a href="/" class="css-1hlrcxk">{site}</a><ul
class="Tabs AppHeader-Tabs"><li class="Tabs-item"><a class="Tabs-link" href="/explore">发现</a></li>
<li class="Tabs-item"><a class="Tabs-link" href="/waiting">等你来答</a></li></ul><div
class="SearchBar"></div><div class="AppHeader-userInfo"><a href="/signin">登录</a></div></div>
</header></div><main role="main" class="App-main">{main}</main></div></div></body></html>""",
    posts="""<div class="QuestionPage">{posts}</div></div></div><div class="Question-sideColumn
css-1qyytj7"><div class="Card"><div class="Card-header"><div class="NumberBoard"><span>关注者</span>
<strong>12</strong></div></div></div></div></div></div>""",
    first="""<div class="QuestionHeader"><div class="QuestionHeader-content"><div
class="QuestionHeader-main"><div class="QuestionHeader-tags"><a class="TopicLink"
href="/topic/{bid}/hot">话题</a></div><h1 class="QuestionHeader-title">{title}</h1><div
class="AuthorInfo QuestionHeader-author"><a class="UserLink-link" href="{user}">{author}</a></div>
<div class="css-eew49z"><div class="QuestionRichText QuestionRichText--expandable"><div><span
class="RichText ztext css-1yl6ec1"><p>{text}</p></span></div></div></div></div></div><div
class="QuestionHeader-footer"><div class="QuestionButtonGroup"><a href="/signin"
class="FollowButton Button">关注问题</a><a href="/signin"
class="Button">写回答</a></div></div></div>
<div class="Question-main"><div class="Question-mainColumn"><div class="Card AnswersNavWrapper"><div
class="List"><div class="List-header"><h4 class="List-headerText"><span>全部回答</span></h4></div>
""",
    post="""<div class="List-item" tabindex="0"><div><div class="ContentItem AnswerItem"
name="{pid}"><div class="ContentItem-meta"><div class="AuthorInfo AnswerItem-authorInfo"><span
class="UserLink AuthorInfo-avatarWrapper"><a class="UserLink-link" href="{user}"><img
class="Avatar" src="/a.png"></a></span><div class="AuthorInfo-content"><div
class="AuthorInfo-head"><span class="UserLink AuthorInfo-name"><a class="UserLink-link"
href="{user}">{author}</a></span></div><div class="AuthorInfo-detail"><div
class="AuthorInfo-badgeText">一个普通人</div></div></div></div><div class="LabelContainer">
</div><div class="css-1yuhvjn"><span class="Voters"><button class="Button">{uid} 人赞同了该回答
</button></span></div></div><div class="RichContent RichContent--unescapable"><div
class="RichContent-inner"><div class="css-376mun"><span class="RichText ztext
CopyrightRichText-richText css-1yl6ec1"><p>{text}</p></span></div></div><div
class="ContentItem-time"><a href="/question/{tid}/answer/{pid}"><span>发布于 {date}</span></a></div>
<div class="ContentItem-actions RichContent-actions"><span><button class="Button VoteButton">赞同
{uid}</button></span><button class="Button ContentItem-action">添加评论</button><button
class="Button ContentItem-action">分享</button></div></div></div></div></div>""",
    rows="""<div class="TopicMetaCard"><h1>{title}</h1></div><div class="Card">{rows}</div>""",
    row="""<div class="List-item TopicFeedItem"><div class="ContentItem"><h2
class="ContentItem-title"><a href="/question/{tid}">{title}</a></h2><div
class="ContentItem-meta">{author} · {date} · {count} 个回答</div></div></div>""",
)

_UBB = Engine(
    host="ultimate.test",
    thread="/ubb/Forum{bid}/HTML/{tid}.html",
    board="/ubb/Forum{bid}/forum.html",
    user="/cgi-bin/ubbmisc.cgi?action=getbio&UserName={slug}",
    date="%m-%d-%Y %I:%M %p",
    page="""<html><head><title>{title} - {site}</title></head><body bgcolor="#ffffff"><center><table
border="0" width="95%"><tr><td valign="top" align="left"><a href="/ubb/Forums.cgi"><img
src="/bbtitle.gif" alt="{site}"></a></td><td valign="top"><font size="2" face="Verdana"><b>{site}
</b></font><center><font size="1" face="Verdana"><a href="/cgi-bin/postings.cgi">Post New Topic</a>
| <a href="/cgi-bin/Ultimate.cgi?action=agree">register</a> | <a
href="/ubb/faq.html">faq</a></font></center></td></tr></table></center>{main}<center><font size="2"
face="Verdana">Powered by an ultimate board</font></center></body></html>""",
    posts="""<center><table border="0" cellpadding="0" cellspacing="0" width="95%"><tr><td
bgcolor="#000000"><table border="0" cellpadding="4" cellspacing="1" width="100%"><tr
bgcolor="#000080"><td valign="top" width="18%"><font size="1" face="Verdana"><b>Author</b></font>
</td><td valign="top"><font size="1" face="Verdana"><b>Topic: &nbsp; {title}</b></font></td></tr>
{posts}</table></td></tr></table></center>""",
    post="""<tr bgcolor="#F7F7F7"><td width="18%" valign="top"><a name="{pid}"></a><font size="2"
face="Verdana"><b>{author}</b></font><br><font size="1" face="Verdana">Member</font><p></p></td><td>
<img src="/icon1.gif"><font size="1" face="Verdana" color="#800080">posted {date} &nbsp;
&nbsp;<a href="{user}"><img src="/profile.gif" alt="Click Here to See the Profile"></a><a
href="/cgi-bin/postings.cgi?action=reply&id={pid}"><img src="/quote.gif"></a></font><hr><font
size="2" face="Verdana">{text}</font></td></tr>""",
    rows="""<center><table border="0" width="95%"><tr><td><font size="2"><b>{title}</b></font></td>
</tr>{rows}</table></center>""",
    row="""<tr bgcolor="#F7F7F7"><td><font size="2" face="Verdana"><a
href="/ubb/Forum{bid}/HTML/{tid}.html">{title}</a></font></td><td><font size="2"
face="Verdana">{author}</font></td><td align="center"><font size="2">{count}</font></td><td><font
size="1" face="Verdana">{date}</font></td></tr>""",
)

_ISSUES = Engine(
    host="issues.test",
    thread="/harbour/part{bid}/issues/{tid}",
    board="/harbour/part{bid}/issues",
    user="/{slug}",
    date="%b %d, %Y",
    page="""<html><head><title>{title} · {site}</title></head><body class="logged-out
env-production page-responsive"><div class="position-relative js-header-wrapper"><a href="#content"
class="px-2">Skip to content</a><header class="HeaderMktg"><a href="/" class="mr-4">{site}</a><nav>
<ul><li><a href="/features">Product</a></li><li><a href="/pricing">Pricing</a></li></ul></nav><a
href="/login" class="HeaderMktg-link">Sign in</a></header></div><div class="application-main"><main
id="js-repo-pjax-container"><div id="repository-container-header"><strong><a
href="/harbour">harbour</a></strong><nav class="UnderlineNav"><ul><li><a
href="/harbour/wiki">Wiki</a></li></ul></nav></div><div id="repo-content-turbo-frame"
class="clearfix container-xl">{main}</div></main></div><footer class="footer"><ul><li><a
href="/site/terms">Terms</a></li><li><a href="/site/privacy">Privacy</a></li></ul></footer></body>
</html>""",
    posts="""<div id="show_issue" class="js-issues-results"><div id="partial-discussion-header"
class="gh-header"><h1 class="gh-header-title"><bdi class="js-issue-title markdown-title">{title}
</bdi> <span class="f1-light color-fg-muted">#{tid}</span></h1><div class="d-flex flex-items-center
gh-header-meta"><span class="State State--open">Open</span><span>{count} comments</span></div>
</div><div class="Layout"><div class="Layout-main"><div class="js-quote-selection-container"><div
class="js-discussion">{posts}</div></div></div><div class="Layout-sidebar"><div
class="discussion-sidebar-item"><div class="discussion-sidebar-heading">Assignees</div><span>No one
assigned</span></div></div></div></div>""",
    post="""<div class="TimelineItem js-comment-container"><div class="avatar-parent-child
TimelineItem-avatar"><a href="{user}"><img src="/a.png"></a></div><div
class="timeline-comment-group js-minimizable-comment-group TimelineItem-body"
id="issuecomment-{pid}"><div class="ml-n3 timeline-comment unminimized-comment comment"><div
class="timeline-comment-header clearfix d-flex"><div class="timeline-comment-actions"><details
class="details-overlay"><summary class="timeline-comment-action">⋯</summary></details><span
class="Label">Contributor</span></div><h3 class="f5 text-normal"><strong><a class="author
Link--primary" href="{user}">{author}</a></strong> commented <a href="#issuecomment-{pid}"
class="Link--secondary"><relative-time datetime="{when}">{date}</relative-time></a></h3></div><div
class="edit-comment-hide"><task-lists><table class="d-block"><tbody class="d-block"><tr
class="d-block"><td class="d-block comment-body markdown-body js-comment-body"><p>{text}</p></td>
</tr></tbody></table></task-lists><div class="pr-review-reactions"><div
class="comment-reactions"></div></div></div></div></div></div>""",
    rows="""<div class="js-navigation-container"><h2>{title}</h2>{rows}</div>""",
    row="""<div id="issue_{tid}" class="Box-row js-navigation-item"><div class="flex-auto"><a
class="Link--primary h4" href="/harbour/part{bid}/issues/{tid}">{title}</a><div
class="text-small"><span class="opened-by">#{tid} opened <relative-time
datetime="{when}">{date}</relative-time> by <a href="{user}" class="Link--muted">{author}</a></span>
</div></div><a href="/harbour/part{bid}/issues/{tid}" class="Link--muted">{count}</a></div>""",
)

_GUESTS = Engine(
    host="guests.test",
    thread="/entry/{tid}.html",
    board="/label/part{bid}",
    user="/profile/{uid}",
    date="%B %d, %Y at %I:%M %p",
    page="""<html><head><title>{title} | {site}</title></head><body class="item-view"><div
id="outer-wrapper"><div id="header-wrapper"><div class="header section"><h1 class="title"><a
href="/">{site}</a></h1></div></div><div id="content-wrapper"><div id="main-wrapper"><div
class="main section">{main}</div></div><div id="sidebar-wrapper"><div class="widget Label"><h2>Parts
</h2><ul><li><a href="/label/part1">one</a></li><li><a href="/label/part2">two</a></li></ul></div>
</div></div><div id="footer">Powered by a blog</div></div></body></html>""",
    posts="""{posts}</dl></div></div>""",
    first="""<div class="post hentry"><h3 class="post-title entry-title">{title}</h3><div
class="post-body entry-content">{text}</div><div class="post-footer"><span
class="post-author vcard">Posted by <a class="fn" href="{user}">{author}</a></span> <span
class="post-timestamp">at <abbr class="published" title="{when}">{date}</abbr></span></div></div>
<div class="comments" id="comments"><h4>comments:</h4><dl class="avatar-comment-indent"
id="comments-block">""",
    post="""<dt class="comment-author" id="c{pid}"><a name="c{pid}"></a><a href="{user}"
rel="nofollow">{author}</a> said...</dt><dd class="comment-body" id="Blog1_cmt-{pid}"><p>{text}</p>
</dd><dd class="comment-footer"><span class="comment-timestamp"><a href="{self}#c{pid}"
title="comment permalink">{date}</a></span></dd>""",
    rows="""<h2>{title}</h2>{rows}""",
    row="""<div class="post hentry"><h3 class="post-title"><a href="/entry/{tid}.html">{title}</a>
</h3><div class="post-footer">Posted by {author} at {date} <a class="comment-link"
href="/entry/{tid}.html#comments">{count} comments</a></div></div>""",
)

OTHERS: dict[str, Engine] = {
    "nodes": _V2,
    "touch": _TOUCH,
    "answers": _ANSWERS,
    "ultimate": _UBB,
    "issues": _ISSUES,
    "guests": _GUESTS,
}
