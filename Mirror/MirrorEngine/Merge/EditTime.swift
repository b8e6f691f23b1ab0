internal import Foundation
package import RecordWire

/// When, and on which device, a property was edited last: what the rule `latest` compares.
///
/// The time is a hybrid logical clock: milliseconds since 1970, and never less than a time seen
/// before, so that an edit made after another one was seen is later whatever the clocks say.
package struct EditTime: Hashable, Sendable, Comparable {
    package var milliseconds: Int64
    package var device: String

    package init(milliseconds: Int64, device: String) {
        self.milliseconds = milliseconds
        self.device = device
    }

    /// The times that count when another device tells them.
    static let credible: Range<Int64> = 0..<(1 << 62)
    /// How far such a time moves this device's clock, so that its own next times are credible too.
    static let witnessedMax: Int64 = 1 << 61

    /// Ties are decided by the devices' names.
    package static func < (left: EditTime, right: EditTime) -> Bool {
        (left.milliseconds, left.device) < (right.milliseconds, right.device)
    }
}

/// The edit times of one object's properties, by the properties' keys, as they travel with its
/// record.
package struct EditTimes: Hashable, Sendable {
    package var times: [String: EditTime] = [:]

    package init(_ times: [String: EditTime] = [:]) { self.times = times }

    /// Reads the times that a record carries; none from a client that keeps none.
    package init(_ record: Record) {
        guard case .string(let text)?? = record.fields[RecordNames.editTimes] else { return }
        for line in text.split(separator: ";") {
            let parts = line.split(separator: " ", maxSplits: 2)
            // A time beyond all clocks counts as none; the record's values stay.
            guard parts.count == 3, let milliseconds = Int64(parts[1]),
                EditTime.credible.contains(milliseconds)
            else { continue }
            times[String(parts[0])] = EditTime(
                milliseconds: milliseconds, device: String(parts[2]))
        }
    }

    /// The same times under other names of the properties.
    func named(_ name: (String) -> String) -> EditTimes {
        EditTimes(Dictionary(times.map { (name($0.key), $0.value) }, uniquingKeysWith: max))
    }

    /// "property milliseconds device", joined by semicolons, in name order.
    package var field: FieldValue? {
        guard !times.isEmpty else { return nil }
        let lines = times.sorted { $0.key < $1.key }.map { property, time in
            "\(property) \(time.milliseconds) \(time.device)"
        }
        return .string(lines.joined(separator: ";"))
    }
}
