import Foundation

/// A PostgreSQL server for tests, in a folder of its own, on a socket in it. It stops with this
/// object, and with the process whatever ends that.
public final class TestServer: Sendable {
    /// Where Debian's packages put the newest server; nil where none is installed.
    private static let programs: URL? = {
        let root = URL(fileURLWithPath: "/usr/lib/postgresql")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        return versions.compactMap(Int.init).sorted().last
            .map { root.appendingPathComponent("\($0)/bin") }
            .flatMap {
                FileManager.default.isExecutableFile(atPath: $0.path + "/postgres") ? $0 : nil
            }
    }()

    /// Whether a server can be started here.
    public static let isInstalled = programs != nil

    /// One for all tests of the process; its commits do not wait for the disk.
    public static let shared = Result { try TestServer(isDurable: false) }

    private let folder: URL
    private let guardian: Subprocess

    /// Starts a server; `isDurable`: its commits are on the disk.
    public init(isDurable: Bool) throws {
        guard let programs = Self.programs else { throw Failure("PostgreSQL is not installed") }
        var template = Array("/tmp/diptych-postgres-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure("no folder for the server") }
        folder = URL(
            fileURLWithPath: String(
                decoding: template.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
        guardian = try Subprocess(
            "/bin/sh",
            ["-c", Self.script, "sh", folder.path, programs.path, isDurable ? "on" : "off"])
        let word = guardian.readSome()
        guard word == "ready\n" else { throw Failure("the server did not start: \(word)") }
    }

    deinit {
        guardian.endInput()
        guardian.wait()
    }

    /// Lives until its input ends; a server may not run as root.
    private static let script = """
        folder=$1 programs=$2 durable=$3
        trap '' INT TERM HUP
        as() {
            if [ "$(id -u)" = 0 ]; then
                exec setpriv --reuid=postgres --regid=postgres --clear-groups -- "$@"
            fi
            exec "$@"
        }
        [ "$(id -u)" = 0 ] && chown postgres "$folder"
        cd "$folder"
        (as "$programs/initdb" -D data -A trust -U diptych -E UTF8 --locale=C.UTF-8 \\
            --no-sync) >initdb.log 2>&1 || { cat initdb.log; exit 1; }
        printf '%s\\n' "unix_socket_directories = '$folder'" "listen_addresses = ''" \\
            "fsync = $durable" "max_connections = 400" "shared_buffers = 64MB" \\
            "logging_collector = off" >>data/postgresql.conf
        (as "$programs/pg_ctl" -D "$folder/data" -l "$folder/log" -w start) \\
            >start.log 2>&1 </dev/null ||
            { cat start.log log; exit 1; }
        echo ready
        cat >/dev/null
        kill -QUIT "$(head -n 1 data/postmaster.pid)"
        while [ -e data/postmaster.pid ] && kill -0 "$(head -n 1 data/postmaster.pid)"; do
            sleep 0.05
        done 2>/dev/null
        cd / && rm -rf "$folder"
        """

    // MARK: Use

    /// The address of a database.
    public func address(of database: String) -> String {
        "postgresql://diptych@/\(database)?host=\(folder.path)"
    }

    /// The address of a new, empty database.
    public func makeDatabase() throws -> String {
        let name = "t" + UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased()
        try sql("CREATE DATABASE \(name)", in: "postgres")
        return address(of: name)
    }

    /// The address of a new database with what another of this server holds, by `pg_dump`.
    public func makeDatabase(copyOf address: String) throws -> String {
        let made = try makeDatabase()
        let dump = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-dump-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: dump) }
        try Data(try Self.dump(at: address).utf8).write(to: dump)
        try Self.psql(["-d", made, "-f", dump.path])
        return made
    }

    /// A database in statements, as `pg_dump` writes them.
    public static func dump(at address: String) throws -> String {
        guard let programs else { throw Failure("PostgreSQL is not installed") }
        return try run(programs.appendingPathComponent("pg_dump").path, ["-d", address])
    }

    /// Runs statements at an address, and returns what `psql` prints of their rows.
    @discardableResult
    public static func sql(_ text: String, at address: String) throws -> String {
        try psql(["-d", address, "-c", text])
    }

    @discardableResult
    private static func psql(_ words: [String]) throws -> String {
        guard let programs else { throw Failure("PostgreSQL is not installed") }
        return try run(
            programs.appendingPathComponent("psql").path,
            ["-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1"] + words)
    }

    @discardableResult
    public func sql(_ text: String, in database: String) throws -> String {
        try Self.sql(text, at: address(of: database))
    }

    /// Ends every session of a database, as an administrator would.
    public static func endSessions(at address: String) throws {
        try sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                + "WHERE datname = current_database() AND pid <> pg_backend_pid()", at: address)
    }

    /// Lets the server crash, and starts it again.
    public func crash() throws {
        guard let programs = Self.programs else { return }
        let control = [
            programs.appendingPathComponent("pg_ctl").path, "-D", folder.path + "/data", "-w",
            "-m", "immediate", "-l", folder.path + "/log", "restart",
        ]
        let user = ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        // The server's user may not enter the folder that the tests run in.
        try Self.run(
            "/bin/sh",
            ["-c", "cd /tmp && exec \"$@\"", "sh"] + (getuid() == 0 ? user : []) + control)
    }

    @discardableResult
    private static func run(_ program: String, _ words: [String]) throws -> String {
        let process = try Subprocess(program, words)
        process.endInput()
        let text = process.readAll()
        guard process.wait() == 0 else { throw Failure("\(program) failed: \(text)") }
        return text
    }

    public struct Failure: Error, CustomStringConvertible {
        public let description: String
        init(_ description: String) { self.description = description }
    }
}
