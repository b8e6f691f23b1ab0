import Foundation
import Platform
import PostgresTesting
import RecordService
import SQLiteDriver
import Testing

/// Where a service of a test keeps its rows.
enum ServiceStorage: Sendable {
    case file(String)
    /// An address, and the folder of assets; nil for one that ends with each service.
    case postgres(String, assets: String? = nil)
}

/// The kinds of such places.
enum StoragePlace: String, CaseIterable, Sendable {
    case sqlite, postgres

    /// What a fixture that names no file works with.
    @TaskLocal static var current = StoragePlace.sqlite

    static let missing: Comment =
        "PostgreSQL is not installed (Tools/setup does that): only SQLite is tested"

    /// Those that this machine has.
    static let present = allCases.filter { $0 == .sqlite || TestServer.isInstalled }

    /// A new one that ends with the test.
    func make() throws -> ServiceStorage {
        switch self {
        case .sqlite: .file(":memory:")
        case .postgres: .postgres(try TestServer.shared.get().makeDatabase())
        }
    }

    static func database(
        _ address: String, assets: String? = nil
    ) throws -> PostgresDatabase {
        var database = try PostgresDatabase(address: address, assetsFolder: assets)
        database.sessionsMax = 6
        return database
    }
}

extension ServiceStorage {
    /// Work on the rows beside the services.
    func administration(audit: AuditLog? = nil) throws -> ServiceAdministration {
        switch self {
        case .file(let path):
            try ServiceAdministration(path: path, platform: .system, audit: audit)
        case .postgres(let address, let assets):
            try ServiceAdministration(
                database: StoragePlace.database(address, assets: assets), platform: .system,
                audit: audit)
        }
    }

    /// A service of the system's clock and randomness.
    func service(audit: AuditLog? = nil) throws -> RecordService {
        switch self {
        case .file(let path): try RecordService(path: path, platform: .system, audit: audit)
        case .postgres(let address, let assets):
            try RecordService(
                database: StoragePlace.database(address, assets: assets), platform: .system,
                audit: audit)
        }
    }

    /// A copy as it is now, as a backup would be; a file's lies beside it.
    func copied() throws -> ServiceStorage {
        switch self {
        case .file(let path):
            let files = FileManager.default
            for end in ["", "-wal", ".containers"] where files.fileExists(atPath: path + end) {
                try files.copyItem(atPath: path + end, toPath: path + ".backup" + end)
            }
            return .file(path + ".backup")
        case .postgres(let address, let assets):
            return .postgres(
                try TestServer.shared.get().makeDatabase(copyOf: address), assets: assets)
        }
    }

    /// All that is kept, as it lies on the disk or as a copy has it.
    func contents() throws -> Data {
        switch self {
        case .file(let path):
            try ContainerFile.all(of: path).flatMap { [$0, $0 + "-wal"] }
                .filter { FileManager.default.fileExists(atPath: $0) }
                .reduce(into: Data()) { $0 += try Data(contentsOf: URL(fileURLWithPath: $1)) }
        case .postgres(let address, _):
            Data(
                try TestServer.dump(at: address + "&options=-c%20bytea_output%3Descape").utf8)
        }
    }

    /// The rows of a statement that both engines know, whose columns are numbers, as text with |
    /// between them.
    func texts(_ sql: String) throws -> [String] {
        switch self {
        case .file(let path):
            try ContainerFile.holder(of: sql, path).rows(sql).map { row in
                row.map { $0.int64.map { "\($0)" } ?? "" }.joined(separator: "|")
            }
        case .postgres(let address, _):
            try TestServer.sql(sql, at: address).split(separator: "\n").map(String.init)
        }
    }
}

/// What several services may share one after another or at once, gone when `body` ends.
func withStorage(_ body: (ServiceStorage) throws -> Void) throws {
    guard StoragePlace.current == .sqlite else { return try body(StoragePlace.current.make()) }
    try withDatabasePath { try body(.file($0)) }
}

/// Runs each test of a suite over SQLite, and then over PostgreSQL where that is installed.
struct EveryBackendTrait: TestTrait, SuiteTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        for place in StoragePlace.present {
            try await StoragePlace.$current.withValue(place) { try await function() }
        }
    }
}

extension Trait where Self == EveryBackendTrait {
    static var everyBackend: Self { Self() }
}
