"""Words of the page about tokens of the API."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "tokens.title": ("Tokens", "访问令牌"),
    "tokens.intro": (
        "Programs use the API with a token. Its secret was shown once, when it was made.",
        "程序通过令牌使用 API。令牌的密钥只在创建时显示一次。",
    ),
    "tokens.name": ("For", "用途"),
    "tokens.id": ("Id", "编号"),
    "tokens.scope": ("Permits", "权限"),
    "tokens.made": ("Made", "创建时间"),
    "tokens.expires": ("Ends", "到期时间"),
    "tokens.used": ("Last used", "最近使用"),
    "tokens.never": ("never", "从不"),
    "tokens.expired": ("has ended", "已到期"),
    "tokens.none": ("There is no token yet.", "还没有令牌。"),
    "tokens.make": ("A token is made by a command:", "令牌由命令创建："),
    "token_scope.read": ("reading", "读取"),
    "token_scope.act": ("reading, and what can be taken back", "读取，以及可撤销的操作"),
    "token_scope.admin": ("everything, deleting too", "全部，包括删除"),
}
