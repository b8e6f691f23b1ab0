#!/usr/bin/env python3
"""Two devices edit and delete through one service for many rounds; prints what their files hold.

usage: growth.py DIPTYCH ROUNDS
"""

import contextlib, glob, json, os, sqlite3, subprocess, sys, tempfile, time

BOOKS = 500
MODEL = os.path.join(os.path.dirname(__file__), "../demo-model/Library.xcdatamodel")
# Rows that come with the work and not with what is stored: these must stop growing.
SERVICE_TABLES = ["records", "instances", "epochs", "zones"]
DEVICE_TABLES = ["ATRANSACTION", "ACHANGE", "ANSCKEVENT", "ADIPTYCHCONFLICT", "ADIPTYCHDELETED",
                 "ADIPTYCHINFLIGHT", "ANSCKRECORDMETADATA"]


class Soak:
    def __init__(self, program, folder, facts):
        self.program, self.folder = os.path.abspath(program), folder
        containers = os.path.join(folder, "data", "records.sqlite.containers")
        # There is one, which the service makes soon after its start.
        while not (found := glob.glob(os.path.join(containers, "*.sqlite"))):
            time.sleep(0.1)
        self.records, = found
        self.options = ["--service", facts["url"], "--container", facts["container"],
                        "--ca-file", facts["caFile"], "--token-file", facts["tokenFile"], "--quiet"]

    def store(self, device):
        return os.path.join(self.folder, device + ".sqlite")

    def run(self, *words, text=None, also=()):
        done = subprocess.run([self.program, *words], input=text, text=True, capture_output=True)
        if done.returncode not in (0, *also):
            sys.exit(f"{words[0]} ended with status {done.returncode}: {done.stderr}")

    def edit(self, device, *lines):
        self.run("edit", self.store(device), "-", "--quiet", text="\n".join(lines))

    def sync(self, device):
        self.run("sync", self.store(device), *self.options, also=(3,))

    def round(self, number):
        shelf = f"r{number}"
        self.edit("desk", *[f'insert Book b{n} title="{shelf} {n}" shelf={shelf} lent=0'
                            for n in range(BOOKS)])
        self.sync("desk")
        self.sync("phone")
        # Both edit every tenth book without knowing of each other; each conflict is logged.
        for device in ["desk", "phone"]:
            self.edit(device, *[f'set Book[title == "{shelf} {n}"] shelf={device}{number}'
                                for n in range(0, BOOKS, 10)])
        for device in ["desk", "phone", "desk"]:
            self.sync(device)
        self.edit("phone", f'delete Book[title BEGINSWITH "{shelf} "]')
        for device in ["phone", "desk"]:
            self.sync(device)


def rows(path, tables):
    """Rows by table, for the tables that are there."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    with contextlib.closing(connection):
        known = {name for name, in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'")}
        return {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for table in tables if table in known}


def size(path):
    return sum(os.path.getsize(path + end) for end in ("", "-wal") if os.path.exists(path + end))


def tell(soak, number):
    print(f"round {number}", flush=True)
    for name, path, tables in [("service", soak.records, SERVICE_TABLES),
                               ("desk", soak.store("desk"), DEVICE_TABLES),
                               ("phone", soak.store("phone"), DEVICE_TABLES)]:
        counts = ", ".join(f"{table} {count}" for table, count in rows(path, tables).items())
        print(f"  {name:8} {size(path) >> 10:7} kB  {counts}", flush=True)


def main():
    program, rounds = sys.argv[1], int(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="diptych-growth-") as folder:
        os.environ["XDG_CONFIG_HOME"] = os.path.join(folder, "config")
        ready = os.path.join(folder, "ready.json")
        process = subprocess.Popen(
            [program, "serve", "--data", os.path.join(folder, "data"), "--listen", "127.0.0.1:0",
             "--ready-file", ready], stdout=subprocess.DEVNULL)
        try:
            while not os.path.exists(ready):
                time.sleep(0.1)
            soak = Soak(program, folder, json.load(open(ready)))
            for device in ["desk", "phone"]:
                soak.run("create", soak.store(device), "--model", MODEL, "--quiet")
            for number in range(1, rounds + 1):
                soak.round(number)
                tell(soak, number)
        finally:
            process.terminate()
            process.wait(30)


if len(sys.argv) != 3:
    sys.exit(__doc__)
main()
