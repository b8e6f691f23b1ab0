public import Foundation
internal import ObjectModel
internal import Stores

// The short way of typed accessors: straight between a stored value and its Swift type, with the
// same notices. Each answers nil or false where only the long way will do.
extension NSManagedObject {
    @usableFromInline final func plainInteger(_ key: String) -> Int64? {
        guard let slot = beginRead(key) else { return nil }
        defer { didAccessValue(forKey: key) }
        if let (pack, index) = place {
            return pack._withUnsafeGuaranteedRef { $0.integer(slot, of: index) }
        }
        guard case .integer(let integer) = contents.attributes[slot] else { return nil }
        return integer
    }

    @usableFromInline final func plainDouble(_ key: String) -> Double? {
        guard let slot = beginRead(key) else { return nil }
        defer { didAccessValue(forKey: key) }
        if let (pack, index) = place {
            return pack._withUnsafeGuaranteedRef { $0.double(slot, of: index) }
        }
        guard case .double(let number) = contents.attributes[slot] else { return nil }
        return number
    }

    /// Seconds since 2001-01-01 UTC.
    @usableFromInline final func plainDate(_ key: String) -> Date? {
        guard let slot = beginRead(key) else { return nil }
        defer { didAccessValue(forKey: key) }
        if let (pack, index) = place {
            let seconds = pack._withUnsafeGuaranteedRef { $0.date(slot, of: index) }
            return seconds.map { Date(timeIntervalSinceReferenceDate: $0) }
        }
        guard case .date(let seconds) = contents.attributes[slot] else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    @usableFromInline final func plainText(_ key: String) -> String? {
        guard let slot = beginRead(key) else { return nil }
        defer { didAccessValue(forKey: key) }
        guard case .text(let text) = attribute(at: slot) else { return nil }
        return text
    }

    @usableFromInline final func plainUUID(_ key: String) -> UUID? {
        guard let slot = beginRead(key) else { return nil }
        defer { didAccessValue(forKey: key) }
        if let (pack, index) = place {
            return pack._withUnsafeGuaranteedRef { $0.uuid(slot, of: index) }
        }
        guard case .uuid(let uuid) = contents.attributes[slot] else { return nil }
        return uuid
    }

    /// The slot of an attribute that can be read now, once the reading was announced; its end is
    /// the caller's to announce.
    private func beginRead(_ key: String) -> Int? {
        guard !AccessRecord.isInUse, let slot = shape.attributeSlot(key) else { return nil }
        willAccessValue(forKey: key)
        if extras == nil { return slot }
        didAccessValue(forKey: key)
        return nil
    }

    // MARK: Writing

    @usableFromInline final func setPlain(_ integer: Int64, _ key: String) -> Bool {
        setPlain(key, .integer, .integer(integer))
    }

    @usableFromInline final func setPlain(_ flag: Bool, _ key: String) -> Bool {
        setPlain(key, .boolean, .integer(flag ? 1 : 0))
    }

    @usableFromInline final func setPlain(_ number: Double, _ key: String) -> Bool {
        setPlain(key, .double, .double(number))
    }

    @usableFromInline final func setPlain(_ text: String?, _ key: String) -> Bool {
        setPlain(key, .text, text.map { .text($0) } ?? .null)
    }

    @usableFromInline final func setPlain(_ date: Date?, _ key: String) -> Bool {
        setPlain(key, .date, date.map { .date($0.timeIntervalSinceReferenceDate) } ?? .null)
    }

    @usableFromInline final func setPlain(_ uuid: UUID?, _ key: String) -> Bool {
        setPlain(key, .uuid, uuid.map { .uuid($0) } ?? .null)
    }

    private func setPlain(_ key: String, _ kind: PlainKind, _ value: AttributeValue) -> Bool {
        guard let slot = shape.attributeSlot(key), shape.plainKind(slot) == kind,
            extras == nil
        else { return false }
        willChangeValue(forKey: key)
        if state.contains(.fault) { return false }
        attributes[slot] = value
        didChangeValue(forKey: key)
        return true
    }
}
