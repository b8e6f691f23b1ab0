public import Foundation

/// The fields of a record in the order of their names, each name once.
///
/// A field set to nil is there: in a request it clears the field. It has the calls of a dictionary
/// and is a list, as archives have the fields: records have a few of them, and no name is hashed.
/// Fields that were read from an archive keep its bytes until one of them changes, so that they are
/// stored and sent on as they came. Cost: a name is found by halving the list; a field that is
/// added moves those behind it.
public struct RecordFields: Sendable {
    public typealias Element = (key: String, value: FieldValue?)

    struct Entry: Hashable, Sendable {
        var key: String
        var value: FieldValue?
    }

    private enum Storage: Sendable {
        case list([Entry])
        /// A list, and the bytes that an archive has of it behind its version.
        case both([Entry], Data)
        /// Such bytes, gone over and sound. Each look at the fields reads them anew.
        case unread(Data, ArchivedTraits)
    }

    private var storage: Storage

    public init() { storage = .list([]) }

    public init(_ fields: [String: FieldValue?]) {
        storage = .list(
            fields.map { Entry(key: $0.key, value: $0.value) }.sorted { $0.key < $1.key })
    }

    /// Fields in any order. Of those of one name the first counts.
    init(_ entries: [Entry]) {
        let isOrdered = zip(entries, entries.dropFirst()).allSatisfy { $0.key < $1.key }
        guard !isOrdered else {
            storage = .list(entries)
            return
        }
        let places = entries.indices.sorted {
            entries[$0].key == entries[$1].key ? $0 < $1 : entries[$0].key < entries[$1].key
        }
        var list: [Entry] = []
        list.reserveCapacity(places.count)
        for place in places where list.last?.key != entries[place].key {
            list.append(entries[place])
        }
        storage = .list(list)
    }

    /// Fields in order; `archived` has them behind its version, in the one spelling there is.
    init(inOrder entries: [Entry], archived: Data?) {
        storage = archived.map { .both(entries, $0) } ?? .list(entries)
    }

    /// Fields that nobody may look at before they are sent on.
    init(unread archived: Data, _ traits: ArchivedTraits) { storage = .unread(archived, traits) }

    private var entries: [Entry] {
        switch storage {
        case .list(let entries), .both(let entries, _): entries
        case .unread(let bytes, _): RecordArchive.entries(behindVersion: bytes)
        }
    }

    /// What an archive has of the fields behind its version, where they came so.
    var archived: Data? {
        switch storage {
        case .list: nil
        case .both(_, let bytes), .unread(let bytes, _): bytes
        }
    }

    /// Keeps what `RecordArchive.encodeFields` made of these fields, for who writes them again.
    public mutating func keep(_ archive: Data) {
        storage = .both(entries, archive.dropFirst())
    }

    /// Whether any of them belongs to sharing.
    public var holdReserved: Bool {
        if case .unread(_, let traits) = storage { return traits.holdReserved }
        return entries.contains { SharingField.isReserved($0.key) }
    }

    /// Whether any of them is an asset or a list of assets.
    public var holdAssets: Bool {
        if case .unread(_, let traits) = storage { return traits.holdAssets }
        return entries.contains { $0.value?.holdsAssets == true }
    }

    /// Makes values of fields that nobody has looked at yet, for who looks more than once.
    public mutating func makeValues() {
        if case .unread(let bytes, _) = storage { storage = .both(entries, bytes) }
    }

    private mutating func change<Result>(_ body: (inout [Entry]) -> Result) -> Result {
        var list = entries
        storage = .list([])
        defer { storage = .list(list) }
        return body(&list)
    }

    /// Where a name is, or would be.
    private static func place(of name: String, in list: [Entry]) -> (index: Int, isThere: Bool) {
        guard let last = list.last, !(last.key < name) else { return (list.count, false) }
        var (low, high) = (0, list.count)
        while low < high {
            let middle = (low + high) / 2
            if list[middle].key == name { return (middle, true) }
            if list[middle].key < name { low = middle + 1 } else { high = middle }
        }
        return (low, false)
    }
}

// MARK: As a dictionary

extension RecordFields {
    public var count: Int {
        if case .unread(_, let traits) = storage { return traits.count }
        return entries.count
    }

    public var isEmpty: Bool { count == 0 }

    public var keys: [String] { entries.map(\.key) }
    public var values: [FieldValue?] { entries.map(\.value) }

    /// nil where there is no such field, and inside it what the field is set to.
    public subscript(name: String) -> FieldValue?? {
        get {
            let list = entries
            let (index, isThere) = Self.place(of: name, in: list)
            return isThere ? .some(list[index].value) : nil
        }
        set {
            if let newValue {
                updateValue(newValue, forKey: name)
            } else {
                removeValue(forKey: name)
            }
        }
    }

    /// Sets a field, also to nil. Returns what it was set to; nil where it was not there.
    @discardableResult
    public mutating func updateValue(_ value: FieldValue?, forKey name: String) -> FieldValue?? {
        change { list in
            let (index, isThere) = Self.place(of: name, in: list)
            guard isThere else {
                list.insert(Entry(key: name, value: value), at: index)
                return nil
            }
            defer { list[index].value = value }
            return .some(list[index].value)
        }
    }

    /// Takes a field away. Returns what it was set to; nil where it was not there.
    @discardableResult
    public mutating func removeValue(forKey name: String) -> FieldValue?? {
        change { list in
            let (index, isThere) = Self.place(of: name, in: list)
            return isThere ? .some(list.remove(at: index).value) : nil
        }
    }

    /// The name by which a field is kept that is asked for by `name`, which may be spelled with
    /// other code points.
    public func spelling(of name: String) -> String? {
        let list = entries
        let (index, isThere) = Self.place(of: name, in: list)
        return isThere ? list[index].key : nil
    }

    public func filter(_ isKept: (Element) throws -> Bool) rethrows -> RecordFields {
        RecordFields(
            inOrder: try entries.filter { try isKept(($0.key, $0.value)) }, archived: nil)
    }

    public func mapValues(_ change: (FieldValue?) throws -> FieldValue?) rethrows -> RecordFields {
        RecordFields(
            inOrder: try entries.map { Entry(key: $0.key, value: try change($0.value)) },
            archived: nil)
    }

    /// Adds fields; `choose` is given the old and the new value where both have one.
    public mutating func merge(
        _ other: RecordFields,
        uniquingKeysWith choose: (FieldValue?, FieldValue?) throws -> FieldValue?
    ) rethrows {
        for (name, value) in other {
            if let own = self[name] {
                updateValue(try choose(own, value), forKey: name)
            } else {
                updateValue(value, forKey: name)
            }
        }
    }

    public func merging(
        _ other: RecordFields,
        uniquingKeysWith choose: (FieldValue?, FieldValue?) throws -> FieldValue?
    ) rethrows -> RecordFields {
        var merged = self
        try merged.merge(other, uniquingKeysWith: choose)
        return merged
    }
}

extension RecordFields: Sequence {
    public struct Iterator: IteratorProtocol {
        private let entries: [Entry]
        private var index = 0

        fileprivate init(_ entries: [Entry]) { self.entries = entries }

        public mutating func next() -> Element? {
            guard index < entries.count else { return nil }
            defer { index += 1 }
            return (entries[index].key, entries[index].value)
        }
    }

    public func makeIterator() -> Iterator { Iterator(entries) }
    public var underestimatedCount: Int { count }
}

extension RecordFields: Hashable {
    public static func == (one: RecordFields, other: RecordFields) -> Bool {
        if let bytes = one.archived, bytes == other.archived { return true }
        return one.entries == other.entries
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(entries) }
}

extension RecordFields: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, FieldValue?)...) {
        self.init()
        for (name, value) in elements { updateValue(value, forKey: name) }
    }
}

extension FieldValue {
    /// Whether it is an asset or a list of assets.
    public var holdsAssets: Bool {
        switch self {
        case .asset, .list(type: .asset, _): true
        default: false
        }
    }
}
