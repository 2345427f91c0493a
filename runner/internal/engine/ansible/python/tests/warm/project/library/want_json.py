#!/usr/bin/python3
"""Reads its arguments from a file: WANT_JSON."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    print(json.dumps({"said": json.load(file)["say"]}))
