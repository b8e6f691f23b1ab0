import Foundation
import Stores
import Testing

/// Rows come out of a pack as they were put in.
@Suite struct RowPackTests {
    private static let values: [AttributeValue] = [
        .null, .integer(0), .integer(.min), .double(-0.5), .date(1e9), .text(""), .text("a"),
        .text("Zoë, 数, 👩‍👩‍👧"), .text(String(repeating: "long ", count: 900)), .uri("x:y"),
        .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
        .decimal(Decimal(string: "12.5") ?? 0), .data(Data([0, 1, 2])), .data(Data()),
    ]

    private func put(_ value: AttributeValue, _ slot: Int, _ packer: RowPacker) {
        guard case .text(var text) = value else { return packer.set(value, at: slot) }
        text.withUTF8 { packer.set(text: $0, at: slot) }
    }

    @Test(arguments: [1, 7, 8, 9, 20])
    func everyValueComesBack(attributes: Int) {
        let packer = RowPacker(entity: 3, attributes: attributes, toOnes: 2)
        var rows: [[AttributeValue]] = []
        var packs: [RowPack] = []
        for number in 0..<200 {
            if packer.isFull { packs.append(packer.take()) }
            packer.begin(key: Int64(number) - 5, version: Int64(number) * 2)
            let row = (0..<attributes).map { Self.values[($0 * 5 + number) % Self.values.count] }
            for (slot, value) in row.enumerated() { put(value, slot, packer) }
            if number.isMultiple(of: 3) { packer.set(target: RowID(entity: 9, key: 0), at: 1) }
            rows.append(row)
        }
        packs.append(packer.take())
        #expect(packs.count > 3 && packs.allSatisfy { $0.entity == 3 && $0.toOneCount == 2 })
        var number = 0
        for pack in packs {
            for index in 0..<pack.count {
                #expect(pack.key(index) == Int64(number) - 5)
                #expect(pack.version(index) == Int64(number) * 2)
                #expect(pack.attributes(of: index) == rows[number])
                #expect(pack.target(0, of: index) == nil)
                let target = number.isMultiple(of: 3) ? RowID(entity: 9, key: 0) : nil
                #expect(pack.target(1, of: index) == target)
                number += 1
            }
        }
        #expect(number == 200)
    }

    @Test func aValueOfAnotherKindIsNotThere() {
        let packer = RowPacker(entity: 1, attributes: Self.values.count, toOnes: 0)
        packer.begin(key: 1, version: 1)
        for (slot, value) in Self.values.enumerated() { put(value, slot, packer) }
        let pack = packer.take()
        for (slot, value) in Self.values.enumerated() {
            let found: AttributeValue? =
                pack.integer(slot, of: 0).map { .integer($0) }
                ?? pack.double(slot, of: 0).map { .double($0) }
                ?? pack.date(slot, of: 0).map { .date($0) } ?? pack.uuid(slot, of: 0).map {
                    .uuid($0)
                }
                ?? pack.text(slot, of: 0).map { .text($0) }
            #expect(found == nil || found == value)
            for (place, other) in Self.values.enumerated() {
                #expect(pack.holds(other, at: slot, of: 0) == (place == slot))
            }
        }
    }

    /// Bytes that are no UTF-8 read as Swift repairs them, and that counts as the same.
    @Test func brokenTextsAreRepaired() {
        let packer = RowPacker(entity: 1, attributes: 1, toOnes: 0)
        packer.begin(key: 1, version: 1)
        [0x41, 0xFF, 0x42].withUnsafeBufferPointer { packer.set(text: $0, at: 0) }
        let pack = packer.take()
        #expect(pack.text(0, of: 0) == "A\u{FFFD}B")
        #expect(pack.holds(.text("A\u{FFFD}B"), at: 0, of: 0))
        #expect(!pack.holds(.text("A\u{FFFD}C"), at: 0, of: 0))
    }
}
