import MirrorEngine
import MirrorTransport
import Platform
import RecordService
import RecordWire
import Testing

/// Batches are as large as the service says that it takes them.
@Suite struct BatchSizeTests {
    @Test(arguments: [(3, [3, 3, 3, 1]), (10, [10]), (2_000, [10])])
    func batchesFollowWhatTheServicePublishes(published: Int, sizes: [Int]) async throws {
        let world = try AssetWorld(limits: { $0.operationsPerRequestMax = published })
        let device = try AssetDevice("a", world)
        for index in 0..<10 { try device.insert("\(index)", picture: nil, text: "") }
        let sent = Lock<[Int]>([])
        let channel = BrokenChannel(try world.channel()) { request in
            guard case .modifyRecords(let modify) = request else { return }
            sent.withLock { $0.append(modify.operations.count) }
        }
        let summary = try await device.sync(through: channel)
        #expect(summary.isInSync && summary.exported == 10)
        #expect(sent.withLock { $0 } == sizes)
    }

    @Test func aServiceThatIsNotAskedSaysNothing() async throws {
        let world = try AssetWorld()
        #expect(try await world.channel().operationsMax() == 2_000)
        let plain = try world.channel { $0.dialect = .plain }
        #expect(try await plain.operationsMax() == nil)
    }
}
