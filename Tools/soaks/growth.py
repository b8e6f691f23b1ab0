#!/usr/bin/env python3
"""Edits and deletes records of one service for many rounds, and prints the size of its files.

usage: growth.py DIPTYCH ROUNDS
"""

import http.client, json, os, ssl, subprocess, sys, tempfile, time

DATABASE = "/database/1/iCloud.local.diptych/development/private/"
RECORDS = 500


def main():
    program, rounds = sys.argv[1], int(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="diptych-growth-") as folder:
        ready, data = os.path.join(folder, "ready.json"), os.path.join(folder, "data")
        process = subprocess.Popen(
            [program, "serve", "--data", data, "--listen", "127.0.0.1:0", "--ready-file", ready],
            stdout=subprocess.DEVNULL)
        try:
            while not os.path.exists(ready):
                time.sleep(0.1)
            work(json.load(open(ready)), data, rounds)
        finally:
            process.terminate()
            process.wait(30)


def work(facts, data, rounds):
    words = dict(line.split(": ", 1) for line in open(facts["tokenFile"]).read().splitlines()
                 if ": " in line and not line.startswith("#"))
    headers = {"X-Diptych-API-Token": words["api"], "X-Diptych-User-Token": words["user"],
               "X-Diptych-Device": "growth"}
    connection = http.client.HTTPSConnection(
        "127.0.0.1", facts["port"],
        context=ssl.create_default_context(cafile=facts["caFile"]), timeout=60)

    def ask(operation, body):
        connection.request("POST", DATABASE + operation, json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            sys.exit(f"{operation} answered {answer.status}: {text[:200]!r}")

    ask("zones/modify", {"operations": [
        {"operationType": "create", "zone": {"zoneID": {"zoneName": "z"}}}]})
    print("round  records.sqlite  -wal")
    for number in range(rounds):
        for start in range(0, RECORDS, 250):
            names = [f"r{number}-{index}" for index in range(start, start + 250)]
            for kind in ["forceUpdate", "forceUpdate", "forceDelete"]:
                fields = {} if kind == "forceDelete" else {"text": {"value": "x" * 100}}
                ask("records/modify", {
                    "zoneID": {"zoneName": "z"}, "desiredKeys": [], "operations": [
                        {"operationType": kind, "record": {
                            "recordName": name, "recordType": "Note", "fields": fields}}
                        for name in names]})
        sizes = [os.path.getsize(os.path.join(data, "records.sqlite" + suffix)) >> 10
                 for suffix in ("", "-wal")]
        print(f"{number + 1:5}  {sizes[0]:11} kB  {sizes[1]} kB", flush=True)


if len(sys.argv) != 3:
    sys.exit(__doc__)
main()
