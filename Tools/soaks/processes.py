#!/usr/bin/env python3
"""Three services share one PostgreSQL database; devices and writers are spread over them while a
service, chosen by dice, is killed and started again. Then all devices are equal by plain SQL, and
no acknowledged record is lost.

usage: processes.py DIPTYCH KILLS SEED
"""

import collections, json, os, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import kills as single
import several

DEVICES = ["desk", "phone", "tablet", "watch", "wall", "car"]
WRITERS = 4


class Soak(single.Soak):
    """Each service has an address of its own, where a proxy would give them one."""

    def sync(self, device, service):
        return self.spawn(
            "sync", self.store(device), *service.options, "--moved", "--quiet")

    def settle_everywhere(self, services):
        for _ in range(single.QUIET_ROUNDS_MAX):
            moved = 0
            for number, device in enumerate(self.devices):
                service = services[number % len(services)]
                done = subprocess.run(
                    [self.program, "sync", self.store(device), *service.options, "--moved", "--json"],
                    capture_output=True, text=True, env=self.environment)
                if done.returncode not in (0, 3):
                    sys.exit(f"{device} cannot sync: {done.stderr}")
                last = json.loads(done.stdout.splitlines()[-1])
                moved += last["exported"] + last["imported"]
            if moved == 0:
                return
        sys.exit(f"the devices did not come to rest in {single.QUIET_ROUNDS_MAX} rounds")

    def turn_among(self, services, disturb):
        """Some edit, some sync at one of the services each, and something happens meanwhile."""
        for device in self.devices:
            if self.random.random() < 0.4:
                self.edit(device)
        syncing = [self.sync(device, self.random.choice(services))
                   for device in self.random.sample(self.devices, self.random.randint(2, 4))]
        time.sleep(self.random.uniform(0, 0.4))
        disturb()
        for process in syncing:
            process.wait()

    def begin(self, services):
        for device in self.devices:
            self.spawn("create", self.store(device), "--model", single.MODEL, "--quiet").wait()
        self.sync(self.devices[0], services[0]).wait()


def main():
    program, kills, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="diptych-processes-") as folder:
        os.chmod(folder, 0o755)
        soak, cluster = Soak(program, folder, seed, DEVICES), None
        try:
            cluster = several.Cluster(folder)
            services = [several.Service(soak, number, cluster.address) for number in range(3)]
            several.make_zone(services[0])
            soak.begin(services)
            writers = [several.Writer(services, number, seed) for number in range(WRITERS)]
            for writer in writers:
                writer.start()
            away, waits = [], []

            def kill_one():
                service = soak.random.choice(services)
                began = time.monotonic()
                service.kill()
                soak.kills["service"] += 1
                service.start()
                service.await_ready()
                away.append(time.monotonic() - began)
                waits.append((began, time.monotonic()))

            while len(away) < kills:
                soak.turn_among(services, kill_one)
            time.sleep(1)
            several.finish(writers)
            soak.settle_everywhere(services)
            broken, rows = soak.check("extended")
            broken += several.check_writers(services[1], writers, cluster.address)
        finally:
            soak.end()
            if cluster:
                cluster.end()
    errors = sum((writer.errors for writer in writers), collections.Counter())
    print(f"{kills} kills of a service, {len(soak.memory.made)} books made on {len(DEVICES)} devices, "
          f"{rows} rows and pairs compared; {sum(writer.count for writer in writers)} requests of "
          f"writers, {sum(len(writer.acknowledged) for writer in writers)} records acknowledged")
    print("interrupted: " + ", ".join(f"{count} {name}" for name, count in errors.most_common()))
    print(f"away was the service: {several.told(away)}")
    print("without an answer was a writer, who goes to the next service: "
          + several.told([max(writer.silence(*times) for writer in writers) for times in waits]))
    for line in broken:
        print("BROKEN", line)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
