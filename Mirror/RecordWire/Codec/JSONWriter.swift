internal import Foundation

/// Appends JSON text to a buffer. Keys come out in the order they are written.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    /// The stamp and the zone that were written last: the records of a page have many in common.
    private var lastStamp: (value: RecordStamp, text: [UInt8])?
    private var lastZone: (value: ZoneID, text: [UInt8])?
    /// What is said where a value says nothing of it.
    private let usual: UsualMembers?

    init(capacity: Int = 256, usual: UsualMembers? = nil) {
        self.usual = usual
        bytes.reserveCapacity(capacity)
    }

    var data: Data { Data(bytes) }

    /// Whether also that is said which goes without saying.
    var tellsAll: Bool { usual != nil }

    mutating func object(_ body: (inout JSONWriter) throws -> Void) rethrows {
        bytes.append(UInt8(ascii: "{"))
        try body(&self)
        bytes.append(UInt8(ascii: "}"))
    }

    mutating func array<Element>(
        _ elements: some Sequence<Element>, _ body: (inout JSONWriter, Element) throws -> Void
    ) rethrows {
        bytes.append(UInt8(ascii: "["))
        for element in elements {
            separate()
            try body(&self, element)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    mutating func stamp(_ stamp: RecordStamp) {
        if let lastStamp, lastStamp.value.isExactly(stamp) {
            return bytes.append(contentsOf: lastStamp.text)
        }
        let start = bytes.count
        let deviceID = stamp.deviceID ?? usual?.deviceID
        object {
            $0.member("timestamp", stamp.timestamp)
            $0.member("userRecordName", stamp.userRecordName)
            $0.member("deviceID", deviceID)
        }
        lastStamp = (stamp, Array(bytes[start...]))
    }

    mutating func zoneID(_ zone: ZoneID) {
        if let lastZone, lastZone.value == zone { return bytes.append(contentsOf: lastZone.text) }
        let start = bytes.count
        let owner = zone.ownerRecordName ?? usual?.ownerRecordName
        let type = usual?.type(of: zone)
        object {
            $0.member("zoneName", zone.zoneName)
            $0.member("ownerRecordName", owner)
            $0.member("zoneType", type)
        }
        lastZone = (zone, Array(bytes[start...]))
    }

    /// Begins a member of the innermost object; its value must follow.
    mutating func key(_ name: String) {
        separate()
        string(name)
        bytes.append(UInt8(ascii: ":"))
    }

    /// No value ends with an opening bracket, so the last byte alone tells whether this member is
    /// the first.
    private mutating func separate() {
        guard let last = bytes.last, last != UInt8(ascii: "{"), last != UInt8(ascii: "[") else {
            return
        }
        bytes.append(UInt8(ascii: ","))
    }

    mutating func null() { bytes.append(contentsOf: "null".utf8) }
    mutating func bool(_ value: Bool) { bytes.append(contentsOf: (value ? "true" : "false").utf8) }
    mutating func integer(_ value: Int64) { bytes.append(contentsOf: String(value).utf8) }

    /// JSON has no NaN and no infinity: they travel as the strings `NaN`, `Infinity`, `-Infinity`.
    mutating func double(_ value: Double) {
        if value.isFinite {
            bytes.append(contentsOf: value.description.utf8)
        } else {
            string(value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity")
        }
    }

    mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            if utf8.contains(where: Self.needsEscape) {
                for byte in utf8 { escape(byte) }
            } else {
                bytes.append(contentsOf: utf8)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escape(_ byte: UInt8) {
        guard Self.needsEscape(byte) else { return bytes.append(byte) }
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        case UInt8(ascii: "\n"): bytes.append(UInt8(ascii: "n"))
        case UInt8(ascii: "\r"): bytes.append(UInt8(ascii: "r"))
        case UInt8(ascii: "\t"): bytes.append(UInt8(ascii: "t"))
        default:
            let digits = Array("0123456789abcdef".utf8)
            bytes.append(contentsOf: "u00".utf8)
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        }
    }
}

extension JSONWriter {
    mutating func member(_ name: String, _ value: String?) {
        guard let value else { return }
        key(name)
        string(value)
    }

    mutating func member(_ name: String, _ value: Int64?) {
        guard let value else { return }
        key(name)
        integer(value)
    }

    mutating func member(_ name: String, _ value: Double?) {
        guard let value else { return }
        key(name)
        double(value)
    }

    mutating func member(_ name: String, _ value: Bool) {
        key(name)
        bool(value)
    }

    mutating func member(_ name: String, _ values: [String]?) {
        guard let values else { return }
        key(name)
        array(values) { $0.string($1) }
    }
}
