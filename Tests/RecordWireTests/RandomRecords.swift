import Foundation
import RecordWire

/// Draws records from a seed (SplitMix64).
struct RandomRecords {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func word() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(word() % UInt64(bound)) }
    private mutating func coin() -> Bool { below(2) == 0 }
    private mutating func maybe<Value>(_ draw: (inout RandomRecords) -> Value) -> Value? {
        coin() ? draw(&self) : nil
    }

    mutating func bytes(_ count: Int) -> Data {
        Data((0..<count).map { _ in UInt8(truncatingIfNeeded: word()) })
    }

    private static let alphabet = Array("ab/\\\"\n\u{0}\u{1F} é漢😀\u{2028}{}[],:")

    mutating func text() -> String {
        String((0..<below(12)).map { _ in Self.alphabet[below(Self.alphabet.count)] })
    }

    /// Small, large and extreme.
    private mutating func integer() -> Int64 {
        switch below(4) {
        case 0: Int64(below(100)) - 50
        case 1: coin() ? .min : .max
        default: Int64(bitPattern: word() >> UInt64(below(64)))
        }
    }

    /// Any bits but NaN, which equals nothing.
    private mutating func double() -> Double {
        let value = coin() ? Double(bitPattern: word()) : Double(integer()) / 8
        return value.isNaN ? .infinity : value
    }

    private mutating func zone() -> ZoneID {
        ZoneID(zoneName: text(), ownerRecordName: maybe { $0.text() })
    }

    private mutating func stamp() -> RecordStamp {
        RecordStamp(
            timestamp: integer(), userRecordName: maybe { $0.text() },
            deviceID: maybe { $0.text() })
    }

    private mutating func single(_ type: FieldType) -> FieldValue {
        switch type {
        case .string: return .string(text())
        case .int64: return .int64(integer())
        case .double: return .double(double())
        case .timestamp: return .timestamp(integer())
        case .bytes: return .bytes(bytes(below(20)))
        case .reference:
            let actions: [RecordReference.Action?] = [nil, .some(.none), .deleteSelf, .validate]
            return .reference(
                RecordReference(
                    recordName: text(), zoneID: maybe { $0.zone() }, action: actions[below(4)]))
        case .location:
            var place = RecordLocation(latitude: double(), longitude: double())
            place.horizontalAccuracy = maybe { $0.double() }
            place.verticalAccuracy = maybe { $0.double() }
            place.altitude = maybe { $0.double() }
            place.speed = maybe { $0.double() }
            place.course = maybe { $0.double() }
            place.timestamp = maybe { $0.integer() }
            return .location(place)
        case .asset:
            var file = RecordAsset()
            file.size = maybe { $0.integer() & .max }
            file.fileChecksum = text()
            file.downloadURL = maybe { $0.text() }
            file.referenceChecksum = maybe { $0.text() }
            file.wrappingKey = maybe { $0.text() }
            file.receipt = maybe { $0.text() }
            return .asset(file)
        }
    }

    private mutating func value() -> FieldValue? {
        let type = FieldType.allCases[below(FieldType.allCases.count)]
        switch below(8) {
        case 0: return nil
        case 1, 2: return .list(type: type, (0..<below(4)).map { _ in single(type) })
        case 3: return .encrypted(single(.string))
        default: return single(type)
        }
    }

    mutating func record() -> Record {
        var record = Record(
            recordName: "n" + text(), recordType: "T" + text(), recordChangeTag: maybe { $0.text() }
        )
        for _ in 0..<below(8) { record.fields.updateValue(value(), forKey: text()) }
        record.created = maybe { $0.stamp() }
        record.modified = maybe { $0.stamp() }
        record.zoneID = maybe { $0.zone() }
        record.deleted = below(5) == 0
        return record
    }
}
