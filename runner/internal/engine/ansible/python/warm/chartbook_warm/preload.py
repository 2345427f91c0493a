"""Imports ahead what runs need."""

from __future__ import annotations


def preload(collections: list[str]) -> None:
    """Imports the client library and the code that modules of the collections share, as far as they are there."""
