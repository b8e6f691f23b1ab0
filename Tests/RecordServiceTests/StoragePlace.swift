import Foundation
import PostgresTesting
import RecordService
import Testing

/// Where a service of a test keeps its rows.
enum ServiceStorage: Sendable {
    case file(String)
    case postgres(PostgresDatabase)
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
        case .postgres: .postgres(try Self.database(TestServer.shared.get().makeDatabase()))
        }
    }

    static func database(_ address: String) throws -> PostgresDatabase {
        var database = try PostgresDatabase(address: address, assetsFolder: nil)
        database.sessionsMax = 6
        return database
    }
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
