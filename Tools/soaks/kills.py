#!/usr/bin/env python3
"""Three devices edit and sync through one service over TLS while processes are killed at random
moments. Then faults end, all sync, and their files are compared by plain SQL.

usage: kills.py DIPTYCH KILLS DIALECT SEED
"""

import collections, contextlib, json, os, random, signal, sqlite3, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, "../demo-model/Library.xcdatamodel")
IMAGE = os.path.join(HERE, "../demo-model/image.sql")
DEVICES = ["desk", "phone", "tablet"]
QUIET_ROUNDS_MAX = 12


class Service:
    """The service's process, which comes up again at the same port."""

    def __init__(self, soak, dialect):
        self.soak, self.dialect, self.port, self.process = soak, dialect, 0, None
        self.ready = os.path.join(soak.folder, "ready.json")
        self.start()

    def start(self):
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.ready)
        self.process = self.soak.spawn(
            "serve", "--data", os.path.join(self.soak.folder, "data"), "--listen",
            f"127.0.0.1:{self.port}", "--dialect", self.dialect, "--ready-file", self.ready,
            "--quiet")
        for _ in range(600):
            if os.path.exists(self.ready) and os.path.getsize(self.ready):
                break
            if self.process.poll() is not None:
                sys.exit(f"the service ended with status {self.process.returncode}")
            time.sleep(0.05)
        with open(self.ready) as file:
            facts = json.load(file)
        self.port = facts["port"]
        self.options = ["--service", facts["url"], "--container", facts["container"],
                        "--ca-file", facts["caFile"], "--token-file", facts["tokenFile"]]


class Memory:
    """What the devices' own files said after each edit: the oracle."""

    def __init__(self):
        self.counts = collections.Counter()
        self.made, self.deleted = set(), set()

    def note(self, before, after):
        for title, count in after.items():
            self.counts[title] += count - before.get(title, 0)
        self.made |= after.keys() - before.keys()
        self.deleted |= before.keys() - after.keys()


class Soak:
    def __init__(self, program, folder, seed, devices=DEVICES):
        self.program, self.folder, self.devices = os.path.abspath(program), folder, devices
        self.random = random.Random(seed)
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith("DIPTYCH")}
        self.environment["XDG_CONFIG_HOME"] = os.path.join(folder, "config")
        self.running, self.kills = [], collections.Counter()
        self.memory, self.number = Memory(), 0

    # Processes

    def spawn(self, *words, text=None):
        errors = open(os.path.join(self.folder, "errors.log"), "a")
        process = subprocess.Popen(
            [self.program, *words], stdin=subprocess.PIPE if text else subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=errors, text=True, env=self.environment)
        errors.close()
        self.running.append(process)
        if text:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(text)
                process.stdin.close()
        return process

    def kill(self, process, kind):
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            self.kills[kind] += 1
        process.wait()

    def end(self):
        for process in self.running:
            if process.poll() is None:
                process.kill()
                process.wait()

    # Devices

    def store(self, device):
        return os.path.join(self.folder, device + ".sqlite")

    def books(self, device):
        with contextlib.closing(sqlite3.connect(self.store(device))) as connection:
            return dict(connection.execute("SELECT ZTITLE, ifnull(ZLENT, 0) FROM ZBOOK"))

    def tags(self, device):
        with contextlib.closing(sqlite3.connect(self.store(device))) as connection:
            return {name for name, in connection.execute("SELECT ZNAME FROM ZTAG")}

    def script(self, device, books, tags):
        """A few edits of what the device has; `keep` in a title: it is never deleted."""
        draw, lines = self.random, []
        for _ in range(draw.randint(1, 4)):
            self.number += 1
            kind = draw.choice(["make", "count", "shelve", "tag", "chapter", "delete"])
            if kind == "make" or not books:
                word = draw.choice(["keep", "mortal"])
                lines.append(f'insert Book title="{word} {device} {self.number}" lent=0')
                continue
            title = draw.choice(sorted(books))
            book = f'Book[title == "{title}"]'
            if kind == "count":
                books[title] += draw.randint(1, 3)
                lines.append(f"set {book} lent={books[title]}")
            elif kind == "shelve":
                lines.append(f"set {book} shelf={device}{self.number}")
            elif kind == "tag":
                tag = f"t{draw.randint(0, 9)}"
                if tag not in tags:
                    tags.add(tag)
                    lines.append(f"insert Tag name={tag}")
                lines.append(f'link {book}.tags Tag[name == "{tag}"]')
            elif kind == "chapter":
                lines.append(f"insert Chapter c{self.number} title=c{self.number}")
                lines.append(f"link {book}.chapters c{self.number}")
            elif title.startswith("mortal"):
                del books[title]
                lines.append(f"delete {book}")
        return "\n".join(lines) + "\n"

    def edit(self, device):
        before = self.books(device)
        script = self.script(device, dict(before), self.tags(device))
        if not script.strip():
            return
        process = self.spawn("edit", self.store(device), "-", "--quiet", text=script)
        if self.random.random() < 0.25:
            time.sleep(self.random.uniform(0, 0.3))
            self.kill(process, "edit")
        elif process.wait() != 0:
            sys.exit(f"{device} cannot be edited:\n{script}{self.errors()}")
        self.memory.note(before, self.books(device))

    def sync(self, device, service):
        return self.spawn("sync", self.store(device), *service.options, "--quiet")

    def errors(self):
        with open(os.path.join(self.folder, "errors.log")) as file:
            return "".join(file.readlines()[-20:])

    # The run

    def turn(self, service, seconds):
        for device in self.devices:
            if self.random.random() < 0.6:
                self.edit(device)
        syncing = [self.sync(device, service)
                   for device in self.random.sample(self.devices, self.random.randint(1, 3))]
        time.sleep(self.random.uniform(0, seconds))
        victim = self.random.choice(["service"] + ["device"] * len(syncing))
        if victim == "service":
            self.kill(service.process, "service")
            service.start()
        else:
            self.kill(self.random.choice(syncing), "device")
        for process in syncing:
            process.wait()

    def settle(self, service):
        for _ in range(QUIET_ROUNDS_MAX):
            moved = 0
            for device in self.devices:
                done = subprocess.run(
                    [self.program, "sync", self.store(device), *service.options, "--json"],
                    capture_output=True, text=True, env=self.environment)
                if done.returncode not in (0, 3):
                    sys.exit(f"{device} cannot sync: {done.stderr}")
                last = json.loads(done.stdout.splitlines()[-1])
                moved += last["exported"] + last["imported"]
            if moved == 0:
                return
        sys.exit(f"the devices did not come to rest in {QUIET_ROUNDS_MAX} rounds")

    def check(self, dialect):
        broken, images = [], {}
        for device in self.devices:
            with open(IMAGE) as image:
                images[device] = subprocess.run(
                    ["sqlite3", self.store(device)], stdin=image, capture_output=True, text=True,
                    check=True).stdout.splitlines()
            with contextlib.closing(sqlite3.connect(self.store(device))) as connection:
                for found, in connection.execute("PRAGMA integrity_check"):
                    if found != "ok":
                        broken.append(f"{device}'s file is damaged: {found}")
            for line in images[device]:
                if '"nothing"' in line or "||" in line:
                    broken.append(f"{device} has a link to nothing, or a row without a record: {line}")
        for device in self.devices[1:]:
            difference = sorted(set(images[device]) ^ set(images[self.devices[0]]))
            if difference:
                broken.append(f"{self.devices[0]} and {device} differ:\n" + "\n".join(difference[:20]))
        books = self.books(self.devices[0])
        for title in sorted(self.memory.made - self.memory.deleted - books.keys()):
            broken.append(f"the book '{title}' was saved and is lost")
        if dialect == "extended":
            for title in sorted(self.memory.deleted & books.keys()):
                broken.append(f"the book '{title}' was deleted and came back")
        for title, count in sorted(books.items()):
            if title not in self.memory.deleted and self.memory.counts[title] != count:
                broken.append(
                    f"'{title}' was lent {self.memory.counts[title]} times, and says {count}")
        return broken, len(images[self.devices[0]])


def main():
    program, kills, dialect, seed = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    print(f"seed {seed}, {dialect} dialect", flush=True)
    with tempfile.TemporaryDirectory(prefix="diptych-kills-") as folder:
        soak = Soak(program, folder, seed)
        try:
            service = Service(soak, dialect)
            for device in DEVICES:
                soak.spawn("create", soak.store(device), "--model", MODEL, "--quiet").wait()
            began = time.monotonic()
            soak.sync("desk", service).wait()
            seconds = 1.5 * (time.monotonic() - began)
            while sum(soak.kills.values()) < kills:
                soak.turn(service, seconds)
            soak.settle(service)
            broken, rows = soak.check(dialect)
        finally:
            soak.end()
    told = ", ".join(f"{count} of a {kind}" for kind, count in sorted(soak.kills.items()))
    print(f"{sum(soak.kills.values())} kills ({told}), {len(soak.memory.made)} books made, "
          f"{rows} rows and pairs compared")
    for line in broken:
        print("BROKEN", line)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
