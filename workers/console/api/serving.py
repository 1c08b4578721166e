"""Adds the API to the console's application."""

from __future__ import annotations

from functools import cache

from flask import Flask, Response, g, request

from crawlclean.cleaning.json_values import dump
from crawlclean.workers.console.api.actions import ActionRequest, ActionResult, post_action
from crawlclean.workers.console.api.addresses import QUESTIONS
from crawlclean.workers.console.api.openapi import openapi
from crawlclean.workers.console.api.registry import FRESH, JSON, Api
from crawlclean.workers.console.api.tokens import Token, Tokens, TokenScope
from crawlclean.workers.console.routes import Console
from crawlclean.workers.console.screens.topics import show_topic_feed

DESCRIPTION = "/api/openapi.json"
FEED = "topic_feed"
"""The view that checks who asks by itself."""


def add_api(app: Flask, console: Console) -> Api:
    """Adds the addresses of the API, and ``FEED``, which sessions and tokens may ask for.

    Args:
        app: The application.
        console: What views share; its data folder has the tokens of those who may ask.
    """
    api = Api(app, console, Tokens(console.settings.storage.data))
    for name, path, question in QUESTIONS:
        api.ask(name, path, question)
    api.post("/actions/<name>", post_action, body=ActionRequest, answer=ActionResult)
    described = cache(lambda: dump(openapi(api.addresses)))  # half of the time of a start

    def describe(_token: Token) -> Response:
        response = Response(described(), 200, FRESH, content_type=JSON)
        response.add_etag(weak=True)
        response.make_conditional(request)
        return response

    guarded = api.guarded(describe, TokenScope.READ)
    app.add_url_rule(DESCRIPTION, "api_description", guarded, provide_automatic_options=False)

    guarded_feed = api.guarded(
        lambda _token, topic: show_topic_feed(console, topic), TokenScope.READ, is_feed=True
    )

    def answer_feed(topic: str) -> Response:
        """The feed of a topic, for sessions and for tokens."""
        if console.access.is_logged_in(g.session):
            return show_topic_feed(console, topic)
        if not request.authorization:
            return Response("401\n", 401, {"WWW-Authenticate": 'Basic realm="console"'})
        return guarded_feed(topic=topic)

    app.add_url_rule("/topics/<topic>.atom", FEED, answer_feed)
    return api
