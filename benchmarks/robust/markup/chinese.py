"""The markup of Chinese forum programs, written for this project after their default themes."""

from __future__ import annotations

from benchmarks.robust.markup.engine import Engine

_PHPWIND = Engine(
    host="phpwind9.test",
    thread="/read.php?tid={tid}&fid={bid}",
    board="/thread.php?fid={bid}",
    user="/space.php?uid={uid}",
    date="%Y-%m-%d %H:%M",
    language="zh",
    page="""<html><head><title>{title} - {site}</title></head><body><div class="wrap"><header
class="header_wrap"><div id="J_header" class="header cc"><div class="logo"><a
href="/">{site}</a></div><nav class="nav_wrap"><ul><li><a href="/bbs">本站新帖</a></li><li><a
href="/forumlist">版块列表</a></li></ul></nav><a href="/login.php" class="header_login">登录</a><a
href="/register.php">注册</a></div></header><div class="main_wrap"><div class="bread_crumb"><a
href="/">首页</a><em>&gt;</em><a href="/forumlist">论坛</a></div>{main}</div><div
class="footer_wrap"><div class="footer">论坛程序 版权所有</div></div></div></body></html>""",
    posts="""<div class="read_pages_wrap cc"><a href="/post.php?fid={bid}"
class="btn_replay">回复</a>
</div><div class="read_page" id="J_posts_list">{posts}</div>""",
    post="""<div class="floor cc J_read_floor" id="read_{pid}"><table width="100%"
class="floor_table"><tr><td rowspan="2" class="floor_left"><div class="floor_info"><div
class="face"><a href="{user}" class="J_user_card_show"><img src="/a.png"></a></div><div
class="name"><span class="man_unol" title="离线"></span><a href="{user}" class="J_user_card_show
mr5">{author}</a></div><div class="level"><div>新手上路</div></div><ul class="cc integral"><li>
<em>UID</em><span>{uid}</span></li><li><em>注册日期</em><span>2012-09-01</span></li><li>
<em>发帖数</em><a href="{user}&a=thread">{uid}3</a></li></ul><div class="operate cc"><a
rel="nofollow" href="/follow.php?uid={uid}" class="follow">加关注</a><a rel="nofollow"
href="/message.php?uid={uid}" class="message">写私信</a></div></div></td><td class="box_wrap
floor_right"><div class="fl"><div class="floor_arrow"><em></em></div></div><div class="c"></div><div
class="floor_top_tips cc"><div><span class="lou J_floor_copy" title="复制此楼地址">{n}<sup>#</sup>
</span></div><span class="fl">发布于：{date}</span></div><div id="J_read_main"><div
class="editor_content">{text}</div></div></td></tr><tr><td class="box_wrap floor_bottom"
valign="bottom">{sign}<div class="floor_bottom_tips cc"><a rel="nofollow"
href="/post.php?a=reply&pid={pid}" class="a_reply">回复</a><a rel="nofollow"
href="/report.php?pid={pid}" class="a_report">举报</a></div></td></tr></table></div>""",
    signature="""<div class="signature"><table width="100%"><tr><td>{signature}</td></tr></table>
</div>""",
    rows="""<div class="box_wrap thread_page"><h2>{title}</h2><div class="thread_posts_list"><table>
{rows}</table></div></div>""",
    row="""<tr><td class="author"><a href="{user}"><img src="/a.png"></a></td><td
class="subject"><p class="title"><a href="/read.php?tid={tid}&fid={bid}"
class="st">{title}</a></p><p
class="info">楼主：<a href="{user}">{author}</a><span>{date}</span></p></td><td
class="num">回复：<em>{count}</em></td></tr>""",
)

_DVBBS = Engine(
    host="dvbbs.test",
    thread="/dispbbs.asp?boardID={bid}&ID={tid}&page=1",
    board="/list.asp?boardid={bid}",
    user="/dispuser.asp?id={uid}",
    date="%Y-%m-%d %H:%M:%S",
    language="zh",
    page="""<html><head><title>{title}-{site}</title></head><body><div class="menu"><div
class="menuleft"><a href="login.asp">登录</a> | <a href="reg.asp">注册</a> | <a
href="query.asp">搜索</a> | <a href="help.asp">帮助</a></div></div><table class="tableborder5"><tr>
<td><a href="index.asp">{site}</a></td></tr></table>{main}<div id="foot"><p>程序版权所有</p></div>
</body></html>""",
    posts="""<div class="th"><div style="float:left">主题：{title}</div></div>{posts}<div
class="mainbar4"><a href="post.asp?action=re&boardid={bid}">回复帖子</a></div>""",
    post="""<a name="{n}"></a><div class="postlary{odd}" style="height:auto"><div
class="postuserinfo" style="float:left"><div style="width:92%"><a name="{pid}"></a><div
class="post"><div id="userpost{pid}"><font face="Verdana"><a
href="{user}"><b>{author}</b></a></font>
</div><div>小大 1楼 <a
href="messanger.asp?id={uid}">个性首页</a></div><div>等级：新手上路</div><div>
文章：{uid}5</div><div>积分：{uid}9</div><div>注册：2004-8-1</div></div></div></div><div
class="postuserinfo1"><div class="postbody"><div id="textstyle_{pid}" class="postcontent">{text}
</div>{sign}<div class="postbar"><img src="i.gif"> Post By：{date} <a
href="post.asp?replyID={pid}">引用</a></div></div></div></div>""",
    signature="""<div class="usersign"><br>----------------------------------------------<br>
{signature}</div>""",
    rows="""<div class="th">{title}</div>{rows}""",
    row="""<div class="list"><div class="listtitle"><a
href="dispbbs.asp?boardID={bid}&ID={tid}&page=1" title="x">{title}</a></div><div
class="list_a"><a href="{user}">{author}</a></div><div class="list_r">{count}</div><div
class="list_t">{date} | {author}</div></div>""",
)

_POSTBAR = Engine(
    host="postbar.test",
    thread="/p/{tid}",
    board="/f?kw={slug}",
    user="/home/main?un={slug}",
    date="%Y-%m-%d %H:%M",
    language="zh",
    page="""<html><head><title>{title}_{site}</title></head><body class="skin_normal"><div
class="wrap1"><div class="wrap2"><div id="head" class="search_bright"><a class="search_logo"
href="/">{site}</a><div class="u_login"><a href="/passport/login">登录</a></div></div><div
id="container" class="l_container"><div class="content clearfix">{main}<div
class="right_section"><div
class="region_bright"><h4 class="region_header">贴吧热议榜</h4><ul class="topic_list"><li><a
href="/hottopic/1">港口的冬天</a></li><li><a
href="/hottopic/2">花园里的信号</a></li></ul></div></div>
</div></div><div class="footer">使用前必读</div></div></div></body></html>""",
    posts="""<div class="left_section"><div class="core_title_wrap_bright"><h3
class="core_title_txt">{title}</h3></div><div class="p_postlist" id="j_p_postlist">{posts}</div>
</div>""",
    post="""<div class="l_post l_post_bright j_l_post clearfix" data-pid="{pid}"><div
class="d_author"><ul class="p_author"><li class="icon"><div class="icon_relative"><a
class="p_author_face"
href="{user}"><img src="/a.png"></a></div></li><li class="d_name"><a class="p_author_name
j_user_card" href="{user}">{author}</a></li><li class="l_badge"><div class="p_badge"><a
href="/f/like/level"><div class="d_badge_title">初级粉丝</div><div
class="d_badge_lv">{odd}</div></a>
</div></li></ul></div><div class="d_post_content_main"><div class="p_content"><cc><div
id="post_content_{pid}" class="d_post_content j_d_post_content">{text}</div></cc></div><div
class="core_reply j_lzl_wrapper"><div class="core_reply_tail"><div class="post-tail-wrap"><span
class="tail-info">来自安卓客户端</span><span class="tail-info">{n}楼</span><span
class="tail-info">{date}</span></div><ul class="p_reply"><li><a href="#"
class="lzl_link_unfold">回复</a>
</li></ul></div></div></div></div>""",
    rows="""<h2 class="card_title">{title}</h2><ul id="thread_list" class="threadlist_bright">{rows}
</ul>""",
    row="""<li class="j_thread_list clearfix"><div class="t_con"><div class="col2_left"><span
class="threadlist_rep_num">{count}</span></div><div class="col2_right"><div
class="threadlist_title"><a href="/p/{tid}" title="{title}" class="j_th_tit">{title}</a></div><div
class="threadlist_author"><span class="tb_icon_author"><a href="{user}">{author}</a></span><span
class="threadlist_reply_date">{date}</span></div></div></div></li>""",
)

CHINESE: dict[str, Engine] = {
    "phpwind9": _PHPWIND,
    "dvbbs": _DVBBS,
    "postbar": _POSTBAR,
}
