#!/usr/bin/env python3
"""A PostgreSQL database goes back to a point in time, by a base backup and archived WAL, and what was
written since is gone from it. The devices have it: all sync, are equal by plain SQL, and lost nothing.

usage: recovery.py DIPTYCH SEED
"""

import os, shutil, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import processes, several

DEVICES = ["desk", "phone", "tablet", "watch"]
POINT = "before_the_mistake"


def turns(soak, services, count):
    for _ in range(count):
        soak.turn_among(services, lambda: None)


def go_back(cluster, archive, base):
    """The cluster as it was at the point; the archive says what came after the backup."""
    cluster.end()
    shutil.rmtree(cluster.data)
    shutil.move(base, cluster.data)
    with open(os.path.join(cluster.data, "postgresql.auto.conf"), "a") as file:
        file.write(f"restore_command = 'cp {archive}/%f %p'\n"
                   f"recovery_target_name = '{POINT}'\nrecovery_target_action = 'promote'\n")
    open(os.path.join(cluster.data, "recovery.signal"), "w").close()
    several.give_to_server(os.path.join(cluster.data, "recovery.signal"))
    cluster.start()
    several.until(lambda: several.sql(cluster.address, "SELECT pg_is_in_recovery()") == "f", 120,
                  "the server does not come out of recovery")


def main():
    program, seed = sys.argv[1], int(sys.argv[2])
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="diptych-recovery-") as folder:
        os.chmod(folder, 0o755)
        soak, cluster = processes.Soak(program, folder, seed, DEVICES), None
        archive, home = os.path.join(folder, "archive"), os.path.join(folder, "home")
        for path in (archive, home):
            os.mkdir(path)
            several.give_to_server(path)
        base = os.path.join(home, "base")
        try:
            cluster = several.Cluster(
                folder, "archive_mode=on", f"archive_command=cp %p {archive}/%f")
            services = [several.Service(soak, number, cluster.address) for number in range(2)]
            soak.begin(services)
            turns(soak, services, 4)
            subprocess.run(
                several.as_server(
                    f"{several.programs()}/pg_basebackup", "-h", "127.0.0.1", "-p",
                    str(cluster.port), "-U", "diptych", "-D", base, "-c", "fast"),
                check=True, cwd="/")
            turns(soak, services, 4)
            several.sql(cluster.address, f"SELECT pg_create_restore_point('{POINT}')")
            turns(soak, services, 4)
            before = several.sql(cluster.address, "SELECT sum(counter) FROM zones")
            several.sql(cluster.address, "SELECT pg_switch_wal()")
            time.sleep(2)
            for service in services:
                service.kill()
            go_back(cluster, archive, base)
            after = several.sql(cluster.address, "SELECT sum(counter) FROM zones")
            for service in services:
                service.start()
                service.await_ready()
            soak.settle_everywhere(services)
            broken, rows = soak.check("extended")
            epochs = several.sql(cluster.address, "SELECT count(DISTINCT epoch) FROM epochs")
        finally:
            soak.end()
            if cluster:
                cluster.end()
    print(f"the database went back from change {before} to {after}, {len(soak.memory.made)} books "
          f"made on {len(DEVICES)} devices, {rows} rows and pairs compared, {epochs} epochs")
    if int(after) >= int(before):
        broken.append("nothing was lost at the service, so nothing was tried")
    for line in broken:
        print("BROKEN", line)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
