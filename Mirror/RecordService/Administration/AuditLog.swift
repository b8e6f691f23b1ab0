public import Foundation
public import Platform
public import RecordWire

/// One act of whoever administers a service.
public struct AuditEntry: Hashable, Sendable, Codable {
    /// What was done.
    public enum Act: String, Hashable, Sendable, Codable {
        case containerMade, userAdded, tokenMade, tokenRevoked, tokenRenewed, tokensTakenIn
        case quotaChanged
        case serverKeyAdded, serverKeyRevoked, passwordChanged, passwordRemoved
        case identityLinked, identitiesRemoved
        case profileChanged, grantChanged, roleChanged, schemaImported, schemaDeployed
        /// An administrator's change of records or zones, in the name of their user.
        case recordsChanged
        /// What else an administrator did in the name of a user: subscriptions, shares that were
        /// accepted, couriers, uploads.
        case actedForUser
        case backup, restore
        /// Objects that nothing named went from a bucket.
        case assetsRemoved
    }

    /// Milliseconds since 1970.
    public var at: Int64
    /// Who did it, as the system calls them.
    public var by: String
    public var act: Act
    /// What it was done to: a container, a user, the name of a token, a file.
    public var subject: String
    public var details: [String: String]
}

/// A file to which each act of an administrator is added as a line of JSON. No secret stands in it.
///
/// Calls come from any thread and any process. It lies beside the database, so that a restored one
/// does not bring an older log along.
public final class AuditLog: Sendable {
    private let file: URL
    private let actor: String
    private let clock: any Clock

    private init(_ file: URL, _ actor: String, _ clock: any Clock) {
        self.file = file
        self.actor = actor
        self.clock = clock
    }

    /// The same file, for what somebody else does.
    func acting(as actor: String) -> AuditLog { AuditLog(file, actor, clock) }

    /// `actor` is noted with each act.
    public init(_ file: URL, by actor: String, platform: Environment = .system) {
        self.file = file
        self.actor = actor
        clock = platform.clock
    }

    /// Adds an act that was done; it is on the disk when this returns. Throws INTERNAL_ERROR where
    /// it cannot be written; the act stays done.
    public func note(
        _ act: AuditEntry.Act, _ subject: String, _ details: [String: String] = [:]
    ) throws(RecordError) {
        let entry = AuditEntry(
            at: Int64(clock.now().timeIntervalSince1970 * 1_000), by: actor, act: act,
            subject: subject, details: details)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let isKept = (try? encoder.encode(entry)).map { add(Array($0) + [0x0A]) } ?? false
        guard isKept else {
            throw RecordError(
                .internalError,
                "It was done, but cannot be noted in \(file.path); look at its rights and the "
                    + "free space.")
        }
    }

    private func add(_ line: [UInt8]) -> Bool {
        // Where the records are in PostgreSQL, nobody may have made the folder yet.
        try? FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return write(descriptor, line, line.count) == line.count && fsync(descriptor) == 0
    }

    /// All acts, oldest first; a line that is none, as after a power cut, is passed over. Empty
    /// where there is no file. Throws INTERNAL_ERROR for one that cannot be read. Cost: reads it.
    public static func entries(in file: URL) throws(RecordError) -> [AuditEntry] {
        guard FileManager.default.fileExists(atPath: file.path) else { return [] }
        guard let data = try? Data(contentsOf: file) else { throw unreadable(file) }
        return read(data)
    }

    private static let recentBytesMax: UInt64 = 1 << 20

    /// The last acts, oldest first; what was noted before the file's last megabyte is left out.
    func recent(limit: Int) throws(RecordError) -> [AuditEntry] {
        guard FileManager.default.fileExists(atPath: file.path) else { return [] }
        do {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            let end = try handle.seekToEnd()
            try handle.seek(toOffset: end - min(end, Self.recentBytesMax))
            return Array(Self.read(try handle.readToEnd() ?? Data()).suffix(limit))
        } catch {
            throw Self.unreadable(file)
        }
    }

    private static func read(_ data: Data) -> [AuditEntry] {
        let decoder = JSONDecoder()
        return data.split(separator: 0x0A).compactMap {
            try? decoder.decode(AuditEntry.self, from: $0)
        }
    }

    private static func unreadable(_ file: URL) -> RecordError {
        RecordError(
            .internalError, "The audit log \(file.path) cannot be read; look at its rights.")
    }
}
