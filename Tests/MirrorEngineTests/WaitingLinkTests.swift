import Foundation
import MirrorEngine
import MirrorTestKit
import Stores
import Testing

/// One-to-one links that wait for a decision, under the rule `error`.
@Suite struct WaitingLinkTests {
    /// While a device waits it must not repair the ends again and again, each time undone by
    /// others.
    @Test func devicesComeToRestWhileALinkWaits() throws {
        let (a, b) = try devicesThatLinkOneNote()
        for _ in 0..<3 { for device in [a, b] { try device.sync() } }
        let moved = try [a, b].map { device in
            let result = try device.sync()
            return result.exported + result.imported.received
        }
        #expect(moved == [0, 0])
        #expect(try a.mirrored.conflicts(waitingOnly: true).count == 0)
        #expect(try b.mirrored.conflicts(waitingOnly: true).isEmpty == false)
    }

    @Test(arguments: [ConflictSide.local, .remote])
    func theEndsMeetOnceItIsDecided(side: ConflictSide) throws {
        let (a, b) = try devicesThatLinkOneNote()
        for _ in 0..<3 { for device in [a, b] { try device.sync() } }
        for conflict in try b.mirrored.conflicts(waitingOnly: true) {
            try b.mirrored.resolve(conflict: conflict.id, taking: side)
        }
        for _ in 0..<4 { for device in [b, a] { try device.sync() } }
        for device in [a, b] {
            let note = try device.only("Note")
            let cover = try #require(try device.target(note, "cover"))
            #expect(try device.target(cover, "note") == note)
            let image: AttributeValue = side == .local ? .data(Data([2])) : .data(Data([1]))
            #expect(try device.value(cover, "image") == image)
        }
    }

    /// Both devices give the one note a cover of their own; `a` is synced first.
    private func devicesThatLinkOneNote() throws -> (Device, Device) {
        let service = try Device.service()
        let policy = MergePolicy(standard: .error)
        let a = try Device(1, service, policy: policy)
        let b = try Device(2, service, policy: policy)
        try a.insert("Note", ["title": .text("note")])
        try a.sync()
        try b.sync()
        for (device, image) in [(a, UInt8(1)), (b, 2)] {
            let cover = try device.insert("Cover", ["image": .data(Data([image]))])
            let note = try device.only("Note")
            try device.link(note, "cover", cover)
            try device.link(cover, "note", note)
        }
        return (a, b)
    }
}
