internal import Foundation
internal import Platform
package import RecordWire
internal import SQLiteDriver

/// Who this store file is for the service, and the newest change it has seen there. (SERVICE §8,
/// epochs)
extension Ledger {
    /// Begins a round under a number of its own: what the requests of this round say of the client.
    package func beginRound() throws -> ClientState {
        let round = (try setting(.round)?.int64 ?? 0) + 1
        try set(.round, to: .integer(round))
        return ClientState(
            instance: try instance(), round: round,
            nonce: String(platform.randomness.next(), radix: 36), witness: try witness())
    }

    package func hasInFlightWrites() throws -> Bool {
        if try mayHold(.sentBatches) { return true }
        return try connection.value("SELECT 1 FROM ADIPTYCHINFLIGHT LIMIT 1") != nil
    }

    /// Whether anything was sent without an answer, or waits to be sent: then it matters which
    /// writes the service has taken.
    package func hasWritesUnderWay() throws -> Bool {
        if try hasInFlightWrites() { return true }
        return try connection.value(
            "SELECT 1 FROM ANSCKRECORDMETADATA WHERE ZNEEDSUPLOAD = 1 OR ZNEEDSCLOUDDELETE = 1 "
                + "LIMIT 1") != nil
    }

    /// The random name of this store file; made up when it is first asked.
    private func instance() throws -> String {
        if let known = try setting(.instance)?.string { return known }
        return try drawInstance()
    }

    private func drawInstance() throws -> String {
        let name = platform.randomness.uuid().uuidString
        try set(.instance, to: .text(name))
        return name
    }

    /// Takes a new name, since another file goes by the old one; unless a session on this very file
    /// began a later round meanwhile. Returns whether it did.
    package func renewInstance(after round: Int64) throws -> Bool {
        guard try setting(.round)?.int64 ?? 0 <= round else { return false }
        _ = try drawInstance()
        try set(.deviceID, to: .text(platform.randomness.uuid().uuidString))
        return true
    }

    package func witness() throws -> String? { try setting(.witness)?.string }

    /// Remembers the newest of `tags` when it is newer than what was seen before.
    package func see(_ tags: some Sequence<String?>) throws {
        // A tag of an epoch that was not told yet would keep the service from telling it.
        let told = Set(try line(.line)?.epochs.map(\.id) ?? [])
        let newest = tags.compactMap { $0.flatMap(ChangeTag.init) }
            .filter { told.contains($0.epoch) }.max { $0.change < $1.change }
        guard let newest else { return }
        let seen = try witness().flatMap(ChangeTag.init)
        guard seen.map({ $0.change < newest.change }) ?? true else { return }
        try set(.witness, to: .text(newest.text))
    }

    // MARK: The line of epochs

    /// The zone's epochs as the service told them last, up to the newest change that was seen; nil
    /// with a service that has none.
    package func line() throws -> EpochLine? {
        guard var line = try line(.line) else { return nil }
        line.newest = max(line.newest, try witness().flatMap(ChangeTag.init)?.change ?? 0)
        return line
    }

    /// The epochs of the time that was lost last.
    package func lostLine() throws -> EpochLine? { try line(.lostLine) }

    package func setLine(_ line: EpochLine?) throws {
        try set(.line, to: SQLiteValue(line.map(Self.text)))
    }

    package func setLostLine(_ line: EpochLine?) throws {
        try set(.lostLine, to: SQLiteValue(line.map(Self.text)))
    }

    private func line(_ key: LedgerKey) throws -> EpochLine? {
        guard let text = try setting(key)?.string else { return nil }
        let words = text.split(separator: " ").compactMap { UInt64($0, radix: 36) }
        guard words.count >= 3, words.count % 2 == 1 else { return nil }
        return EpochLine(
            incarnation: words[0], floor: Int64(clamping: words[1]),
            newest: Int64(clamping: words[2]),
            epochs: stride(from: 3, to: words.count, by: 2).map {
                EpochLine.Epoch(id: words[$0], first: Int64(clamping: words[$0 + 1]))
            })
    }

    private static func text(_ line: EpochLine) -> String {
        let words =
            [line.incarnation, UInt64(clamping: line.floor), UInt64(clamping: line.newest)]
            + line.epochs.flatMap { [$0.id, UInt64(clamping: $0.first)] }
        return words.map { String($0, radix: 36) }.joined(separator: " ")
    }
}
