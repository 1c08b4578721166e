"""Adds the API to the console's application."""

from __future__ import annotations

from functools import cache

from flask import Flask, Response, request

from crawlclean.cleaning.json_values import dump
from crawlclean.workers.console.api.actions import ActionRequest, ActionResult, post_action
from crawlclean.workers.console.api.addresses import QUESTIONS
from crawlclean.workers.console.api.openapi import openapi
from crawlclean.workers.console.api.registry import FRESH, JSON, Api
from crawlclean.workers.console.api.tokens import Token, Tokens, TokenScope
from crawlclean.workers.console.routes import Console

DESCRIPTION = "/api/openapi.json"


def add_api(app: Flask, console: Console) -> Api:
    """Adds the addresses of the API.

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
    return api
