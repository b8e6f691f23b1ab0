internal import Foundation
internal import PostgresDriver

/// Rows like the service's, written to PostgreSQL with nothing in between.
final class RawPostgres: @unchecked Sendable {
    // @unchecked: each client has a connection of its own.
    private let connections: [PostgresConnection]
    private let bytes: Int

    /// In the service's own database, whose rows tell how large they are.
    init(_ address: PostgresAddress, clients: Int) throws {
        connections = try (0..<clients).map { _ in
            try PostgresConnection(address, settings: "SET statement_timeout = 0")
        }
        guard let first = connections.first else { throw BenchmarkError("No client.") }
        let found = try first.rows("SELECT avg(octet_length(fields))::bigint FROM records")
        bytes = Int(found.first?.int64(at: 0) ?? 0)
        for statement in [
            "CREATE TABLE floor_counter(one bigint PRIMARY KEY, counter bigint NOT NULL)",
            "INSERT INTO floor_counter(one, counter) VALUES (1, 0)",
            """
            CREATE TABLE floor_records(
                zone bigint NOT NULL, name bytea NOT NULL, change bigint NOT NULL,
                fields bytea NOT NULL, PRIMARY KEY (zone, name))
            """,
            "CREATE UNIQUE INDEX floor_by_change ON floor_records(zone, change)",
        ] {
            try first.send(statement)
        }
        try first.settle()
    }

    /// One transaction: the counter is raised under its row's lock, and the rows are numbered.
    func insert(_ count: Int, by client: Int, _ number: Int) throws {
        let connection = connections[client]
        try connection.send("BEGIN")
        let raised = try connection.rows(
            "UPDATE floor_counter SET counter = counter + $1 WHERE one = 1 RETURNING counter",
            [PostgresValue(count)])
        let last = raised.first?.int64(at: 0) ?? 0
        let fields = Data(repeating: 7, count: bytes)
        try connection.send(
            """
            INSERT INTO floor_records(zone, name, change, fields)
            SELECT 1, r.name, r.change, r.fields
            FROM unnest($1::bytea[], $2::bigint[], $3::bytea[]) AS r(name, change, fields)
            """,
            [
                .names((0..<count).map { "\(client)-\(number)-\($0)" }),
                .integers((0..<count).map { last - Int64($0) }),
                .byteStrings((0..<count).map { _ in fields }),
            ])
        try connection.commit {}
    }
}
