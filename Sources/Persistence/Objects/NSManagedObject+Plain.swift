public import Foundation
internal import ObjectModel
internal import Stores

// The short way of typed accessors: straight between a stored value and its Swift type, with the
// same notices. Each answers nil or false where only the long way will do.
extension NSManagedObject {
    @usableFromInline final func plainInteger(_ key: String) -> Int64? {
        guard let slot = beginRead(key) else { return nil }
        defer { didAccessValue(forKey: key) }
        if let packed { return packed.pack.integer(slot, of: packed.index) }
        guard case .integer(let integer) = contents.attributes[slot] else { return nil }
        return integer
    }

    @usableFromInline final func plainDouble(_ key: String) -> Double? {
        guard let slot = beginRead(key) else { return nil }
        defer { didAccessValue(forKey: key) }
        if let packed { return packed.pack.double(slot, of: packed.index) }
        guard case .double(let number) = contents.attributes[slot] else { return nil }
        return number
    }

    /// Seconds since 2001-01-01 UTC.
    @usableFromInline final func plainDate(_ key: String) -> Date? {
        guard let slot = beginRead(key) else { return nil }
        defer { didAccessValue(forKey: key) }
        if let packed {
            return packed.pack.date(slot, of: packed.index).map {
                Date(timeIntervalSinceReferenceDate: $0)
            }
        }
        guard case .date(let seconds) = contents.attributes[slot] else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    @usableFromInline final func plainText(_ key: String) -> String? {
        guard let slot = beginRead(key) else { return nil }
        defer { didAccessValue(forKey: key) }
        return text(at: slot)
    }

    @usableFromInline final func plainUUID(_ key: String) -> UUID? {
        guard let slot = beginRead(key) else { return nil }
        defer { didAccessValue(forKey: key) }
        if let packed { return packed.pack.uuid(slot, of: packed.index) }
        guard case .uuid(let uuid) = contents.attributes[slot] else { return nil }
        return uuid
    }

    /// The text of a slot; nil for any other value. One that is asked for again stays made.
    final func text(at slot: Int) -> String? {
        if let packed {
            let bit = UInt32(1) << UInt32(slot & 31)
            if textsRead & bit == 0, let text = packed.pack.text(slot, of: packed.index) {
                textsRead |= bit
                return text
            }
            unpack()
        }
        guard case .text(let text) = contents.attributes[slot] else { return nil }
        return text
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
