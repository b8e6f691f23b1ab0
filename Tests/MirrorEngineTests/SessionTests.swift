import Foundation
import MirrorEngine
import MirrorTestKit
import Platform
import RecordWire
import SQLiteStore
import Stores
import Testing

/// Rounds of one session: one at a time, and contexts are told however a round ends.
@Suite struct SessionTests {
    let service: SimulatedService
    let device: Device
    let other: Device

    init() throws {
        service = try Device.service()
        device = try Device(1, service)
        other = try Device(2, service)
    }

    private func session(
        _ channel: any RecordChannel, imported: @escaping @Sendable (Int64) -> Void = { _ in }
    ) -> MirrorSession {
        MirrorSession(
            mirrored: device.mirrored, container: "test", channel: channel, imported: imported)
    }

    @Test func aSecondCallWaitsForTheFirstAndRunsARoundOfItsOwn() async throws {
        try device.insert("Note")
        let channel = SlowChannel(service: service)
        let session = session(channel)
        async let first = session.sync()
        async let second = session.sync()
        async let third = session.sync()
        let summaries = try await [first, second, third]
        #expect(summaries.map(\.exported).sorted() == [0, 0, 1])
        #expect(summaries.allSatisfy { $0.isInSync })
        #expect(channel.overlaps == 0)
        #expect(channel.words == ["zone", "changes", "modify", "changes", "changes", "changes"])
    }

    @Test func aCallAfterAFailedRoundIsServed() async throws {
        let channel = SlowChannel(service: service)
        channel.refusesNext = true
        let session = session(channel)
        await #expect(throws: MirrorError.self) { try await session.sync() }
        #expect(try await session.sync().isInSync)
    }

    @Test func aCancelledRoundTellsContextsOfWhatItImported() async throws {
        try other.insert("Note")
        try other.sync()
        try device.insert("Tag")
        let channel = SlowChannel(service: service)
        let told = Lock<[Int64]>([])
        let session = session(channel) { number in told.withLock { $0.append(number) } }
        let round = Task { try await session.sync() }
        channel.atModify = { round.cancel() }
        await #expect(throws: CancellationError.self) { try await round.value }
        #expect(try device.rows("Note").count == 1)
        #expect(told.withLock { $0 }.count == 1)
    }

    @Test func aRoundThatThrowsIsToldByTheStatusUntilOneIsWhole() async throws {
        let right = session(SlowChannel(service: service))
        #expect(try await right.sync().isInSync)
        let wrong = MirrorSession(
            mirrored: device.mirrored, container: "other", channel: SlowChannel(service: service))
        let error = await #expect(throws: MirrorError.self) { try await wrong.sync() }
        #expect(error?.code == .otherContainer)
        let status = try #require(try device.mirrored.status())
        #expect(!status.isInSync)
        #expect(status.lastError == error?.message)
        #expect(try await right.sync().isInSync)
        #expect(try device.mirrored.status()?.lastError == nil)
    }

    @Test func aCancelledRoundIsNoFailure() async throws {
        let channel = SlowChannel(service: service)
        let session = session(channel)
        #expect(try await session.sync().isInSync)
        try device.insert("Tag")
        let round = Task { try await session.sync() }
        channel.atModify = { round.cancel() }
        await #expect(throws: CancellationError.self) { try await round.value }
        #expect(try device.mirrored.status()?.lastError == nil)
    }

    /// Who stands before a service publishes nothing either.
    @Test func aStoreKeepsItsEpochsUntilAPlainServiceHasAnswered() async throws {
        func line() throws -> EpochLine? {
            try device.store.write { transaction in
                try Ledger(
                    connection: transaction.connection,
                    platform: device.mirrored.settings.platform
                ).line()
            }
        }
        #expect(try await session(SlowChannel(service: service)).sync().isInSync)
        let known = try #require(try line())
        let gateway = session(Gateway())
        await #expect(throws: MirrorError.self) { try await gateway.sync() }
        #expect(try line() == known)
        #expect(try await session(SlowChannel(service: service)).sync().isInSync)
    }

    @Test func aSummaryAndTheStatusSayTheSame() async throws {
        try device.insert("Cover", ["image": .data(Data(repeating: 1, count: 1_200_000))])
        let session = session(SlowChannel(service: service))
        let first = try await session.sync()
        #expect(first.refused == 1 && !first.isInSync)
        // The refusal of an earlier round stands as well.
        let second = try await session.sync()
        #expect(second.refused == 0 && !second.isInSync)
        #expect(try device.mirrored.status()?.isInSync == second.isInSync)
    }
}

/// Somebody who knows none of a service's addresses.
private struct Gateway: RecordChannel {
    func dialect() async throws -> ServiceDialect { .plain }

    func send(_ request: RecordRequest) async throws -> RecordResponse {
        throw RecordError(.accessDenied, "There is no such page.")
    }
}

/// A channel that lets others run while a request is under way.
private final class SlowChannel: RecordChannel, @unchecked Sendable {
    // @unchecked: `service` is set once, and what it holds is Sendable.
    private struct State {
        var words: [String] = []
        var isBusy = false
        var overlaps = 0
        var refusesNext = false
        var atModify: @Sendable () -> Void = {}
    }

    private let service: SimulatedService
    private let state = Lock(State())

    init(service: SimulatedService) { self.service = service }

    var words: [String] { state.withLock { $0.words } }
    var overlaps: Int { state.withLock { $0.overlaps } }
    var refusesNext: Bool {
        get { state.withLock { $0.refusesNext } }
        set { state.withLock { $0.refusesNext = newValue } }
    }
    var atModify: @Sendable () -> Void {
        get { state.withLock { $0.atModify } }
        set { state.withLock { $0.atModify = newValue } }
    }

    func send(_ request: RecordRequest) async throws -> RecordResponse {
        let word =
            switch request {
            case .modifyRecords: "modify"
            case .zoneChanges: "changes"
            case .modifyZones: "zone"
            default: "other"
            }
        let refuses = state.withLock { state in
            state.words.append(word)
            if state.isBusy { state.overlaps += 1 }
            state.isBusy = true
            defer { state.refusesNext = false }
            return state.refusesNext
        }
        for _ in 0..<20 { await Task.yield() }
        if word == "modify" { atModify() }
        let response = Result { try service.handle(request, from: "device") }
        state.withLock { $0.isBusy = false }
        if refuses { throw RecordError(.accessDenied, "Not now.") }
        return try response.get()
    }
}
