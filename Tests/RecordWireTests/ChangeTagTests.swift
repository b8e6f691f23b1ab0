import RecordWire
import Testing

@Suite struct ChangeTagTests {
    @Test(
        arguments: [
            (0, 0), (0, 1), (0, Int64.max), (1, 0), (35, 36), (UInt64.max, Int64.max), (36, 1_295),
        ] as [(UInt64, Int64)])
    func aTagIsItsNumbersInBase36(_ epoch: UInt64, _ change: Int64) {
        let tag = ChangeTag(epoch: epoch, change: change)
        let number = String(change, radix: 36)
        #expect(tag.text == (epoch == 0 ? number : "\(number).\(String(epoch, radix: 36))"))
        #expect(ChangeTag(text: tag.text) == tag)
        #expect(ChangeTag(text: tag.text.uppercased()) == tag)
    }

    @Test(arguments: [
        "", ".", "1.", ".1", "1.0", "1.2.3", "+1", "-1", "1.+2", " 1", "1 ", "é", "1.é", "a_b",
        "1y2p0ij32e8e8", "1.3w5e11264sgsg", "00000000000000000000000000001",
    ])
    func whatIsNoTagIsNone(_ text: String) {
        #expect(ChangeTag(text: text) == nil)
    }

    /// Any text reads as it always did, but for signs, which no service writes.
    @Test func anyTextIsReadAsByTheStandardLibrary() {
        var state: UInt64 = 7
        let letters = Array("0019azAZ..zZ9é")
        for _ in 0..<20_000 {
            var text = ""
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            for _ in 0..<(state >> 59) {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                text.append(letters[Int(state >> 33) % letters.count])
            }
            #expect(ChangeTag(text: text) == Self.plainly(text), "\(text)")
        }
    }

    private static func plainly(_ text: String) -> ChangeTag? {
        guard text.utf8.count <= 27 else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let change = Int64(parts[0], radix: 36) else { return nil }
        guard parts.count == 2 else { return ChangeTag(epoch: 0, change: change) }
        guard let epoch = UInt64(parts[1], radix: 36), epoch > 0 else { return nil }
        return ChangeTag(epoch: epoch, change: change)
    }
}

/// What the records of a page have in common is put together once.
@Suite struct CommonTextTests {
    /// Two names of one look and other bytes are two names.
    @Test func stampsAndZonesAreSpelledByTheirBytes() throws {
        let names = ["\u{E9}", "e\u{301}", "\u{E9}", "x"]
        var page = ZoneChangesReply(zoneID: ZoneID(zoneName: "z"))
        page.records = names.map { name in
            var record = Record(recordName: name, recordType: "T", recordChangeTag: "1")
            record.created = RecordStamp(timestamp: 1, userRecordName: name, deviceID: "d")
            record.modified = RecordStamp(timestamp: 1, userRecordName: "u", deviceID: name)
            record.zoneID = ZoneID(zoneName: name)
            return record
        }
        let request = RecordRequest.zoneChanges(
            ZoneChanges(zones: [.init(zoneID: page.zoneID, syncToken: nil)]))
        page.syncToken = "s"
        let body = try WireCodec.encode(.zoneChanges([page]), to: request)
        guard case .zoneChanges(let pages) = try WireCodec.decodeResponse(to: request, body) else {
            Issue.record("no page came back")
            return
        }
        for (name, record) in zip(names, pages[0].records) {
            #expect(record.created?.userRecordName?.utf8.elementsEqual(name.utf8) == true)
            #expect(record.modified?.deviceID?.utf8.elementsEqual(name.utf8) == true)
            #expect(record.zoneID?.zoneName.utf8.elementsEqual(name.utf8) == true)
        }
    }
}
