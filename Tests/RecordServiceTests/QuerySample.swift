import Foundation
import RecordService
import RecordWire

/// Records and queries drawn from a seed, and the answers that plain Swift gives.
struct QuerySample {
    static let zones = [ServiceFixture.zone, ZoneID(zoneName: "other"), ZoneID()]
    static let type = "Item"

    let randomness: SeededRandomness
    /// By zone, then by name.
    var records: [[String: Record]] = [[:], [:], [:]]

    init(seed: UInt64) { randomness = SeededRandomness(seed: seed) }

    func below(_ bound: Int) -> Int { randomness.below(bound) }

    func one<Value>(of values: [Value]) -> Value { values[below(values.count)] }

    // MARK: Values

    private static let words = ["tea", "Tea", "Zoë", "äther", "", "te", "green tea", "2 cups"]

    func text() -> String {
        switch below(6) {
        case 0: String(repeating: "x", count: 250 + below(12)) + one(of: Self.words)
        case 1: one(of: Self.words) + " " + one(of: Self.words)
        default: one(of: Self.words)
        }
    }

    func value(_ field: String) -> FieldValue {
        switch field {
        case "s": .string(text())
        case "i": .int64(one(of: [-3, 0, 1, 2, 3, .min, .max]))
        case "d": .double(one(of: [-1.5, -0.0, 0, 0.25, 3, 1e300, -.infinity]))
        case "t": .timestamp(one(of: [-1, 0, 1_700_000_000_000, 1_700_000_000_001]))
        case "b": .bytes(Data((0..<below(3)).map { _ in one(of: [0, 127, 255]) }))
        case "r": .reference(RecordReference(recordName: one(of: ["a", "b", "c"])))
        case "l":
            .location(
                RecordLocation(
                    latitude: Double(below(160) - 80) + 0.5, longitude: Double(below(359) - 179)))
        case "sl": .list(type: .string, (0..<below(4)).map { _ in .string(text()) })
        default: .list(type: .int64, (0..<below(5)).map { _ in .int64(Int64(below(5))) })
        }
    }

    static let scalars = ["s", "i", "d", "t", "b", "r"]
    static let fields = scalars + ["l", "sl", "il"]

    func record(_ name: String) -> Record {
        var record = Record(recordName: name, recordType: Self.type)
        for field in Self.fields where below(4) > 0 { record.fields[field] = value(field) }
        return record
    }

    // MARK: Queries

    func filter() -> RecordFilter {
        typealias Comparator = RecordFilter.Comparator
        let scalar = one(of: Self.scalars)
        func list(_ field: String) -> FieldValue {
            let values = (0..<below(4)).map { _ in value(field) }
            return .list(type: value(field).type ?? .string, values)
        }
        switch below(8) {
        case 0, 1:
            return RecordFilter(
                .field(scalar), one(of: [Comparator.equals, .notEquals]), value(scalar))
        case 2:
            let field = one(of: Self.scalars.filter { $0 != "r" })
            let way: Comparator = one(
                of: [.lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals])
            return RecordFilter(.field(field), way, value(field))
        case 3: return RecordFilter(.field(scalar), one(of: [.isIn, .notIn]), list(scalar))
        case 4:
            return RecordFilter(
                .field("l"), .near, value("l"), distance: Double(below(9_000)) * 1_000)
        case 5:
            let (field, element) = one(of: [("sl", "s"), ("il", "i")])
            return one(of: [
                RecordFilter(
                    .field(field), one(of: [.listContains, .notListContains]), value(element)),
                RecordFilter(
                    .field(field),
                    one(of: [
                        .listContainsAny, .notListContainsAny, .listContainsAll,
                        .notListContainsAll,
                    ]), list(element)),
            ])
        case 6:
            return RecordFilter(
                one(of: [.field("s"), .anyText]),
                one(of: [.containsAllTokens, .containsAnyTokens]), .string(text()))
        default:
            return one(of: [
                RecordFilter(.field("s"), one(of: [.beginsWith, .notBeginsWith]), .string(text())),
                RecordFilter(
                    .field("sl"), one(of: [.listMemberBeginsWith, .notListMemberBeginsWith]),
                    .string(text())),
                RecordFilter(
                    .system(.recordName), one(of: [.greaterThan, .beginsWith]),
                    .string("n\(below(9))")),
            ])
        }
    }

    func sort() -> RecordSort {
        guard below(5) > 0 else {
            guard case .location(let place) = value("l") else { return sort() }
            return RecordSort(.field("l"), ascending: below(2) == 0, relativeLocation: place)
        }
        return RecordSort(
            one(of: Self.scalars.map { .field($0) } + [.system(.recordName)]),
            ascending: below(2) == 0)
    }

    func query() -> QueryRecords {
        let zone = below(4)
        var request = QueryRecords(
            RecordQuery(
                recordType: Self.type, filters: (0..<below(4)).map { _ in filter() },
                sorts: (0..<below(4)).map { _ in sort() }),
            zoneID: zone < 3 ? Self.zones[zone] : nil)
        request.zoneWide = zone == 3
        request.resultsLimit = 1 + below(60)
        return request
    }

    // MARK: The answer

    struct Place: Hashable {
        let zone: Int
        let name: String
    }

    /// What the query has to find; in its order, where it has one.
    func answer(to request: QueryRecords) -> [Place] {
        var found: [Place] = []
        for (zone, records) in records.enumerated()
        where request.zoneWide || request.zoneID == Self.zones[zone] {
            for record in records.values
            where request.query.filters.allSatisfy({ passes(record, $0) }) {
                found.append(Place(zone: zone, name: record.recordName))
            }
        }
        return found.sorted { precedes($0, $1, request.query.sorts) }
    }

    private func value(_ record: Record, _ field: QueriedField) -> FieldValue? {
        switch field {
        case .field(let name): record.fields[name].flatMap { $0 }
        default: .string(record.recordName)
        }
    }

    private func passes(_ record: Record, _ filter: RecordFilter) -> Bool {
        let found = value(record, filter.field)
        let elements = elements(found)
        let wanted = self.elements(filter.value)
        func isIn(_ value: FieldValue) -> Bool { elements.contains { same($0, value) } }
        switch filter.comparator {
        case .equals, .listContains, .isIn, .listContainsAny: return wanted.contains(where: isIn)
        case .notEquals, .notListContains, .notIn, .notListContainsAny:
            return !wanted.contains(where: isIn)
        case .listContainsAll: return !elements.isEmpty && wanted.allSatisfy(isIn)
        case .notListContainsAll: return elements.isEmpty || !wanted.allSatisfy(isIn)
        case .lessThan: return elements.contains { order($0, wanted[0]) < 0 }
        case .lessThanOrEquals: return elements.contains { order($0, wanted[0]) <= 0 }
        case .greaterThan: return elements.contains { order($0, wanted[0]) > 0 }
        case .greaterThanOrEquals: return elements.contains { order($0, wanted[0]) >= 0 }
        case .beginsWith, .listMemberBeginsWith:
            return elements.contains { bytes($0).starts(with: bytes(wanted[0])) }
        case .notBeginsWith, .notListMemberBeginsWith:
            return !elements.contains { bytes($0).starts(with: bytes(wanted[0])) }
        case .near:
            guard case .location(let here)? = found, case .location(let there) = filter.value
            else { return false }
            return metres(here, there) <= filter.distance ?? 0
        case .containsAllTokens:
            let there = words(record, filter)
            return !there.isEmpty && words(filter.value).isSubset(of: there)
        case .containsAnyTokens: return !words(filter.value).isDisjoint(with: words(record, filter))
        }
    }

    private func elements(_ value: FieldValue?) -> [FieldValue] {
        if case .list(_, let elements)? = value { return elements }
        return value.map { [$0] } ?? []
    }

    private func words(_ record: Record, _ filter: RecordFilter) -> Set<String> {
        guard filter.field == .anyText else {
            return value(record, filter.field).map(words) ?? []
        }
        return ["s", "sl"].reduce(into: []) { all, field in
            for element in elements(value(record, .field(field))) { all.formUnion(words(element)) }
        }
    }

    private func words(_ value: FieldValue) -> Set<String> {
        guard case .string(let text) = value else { return [] }
        let plain = text.lowercased()
            .replacing("ë", with: "e").replacing("ä", with: "a")
        return Set(plain.split(separator: " ").map(String.init))
    }

    // MARK: Order

    private func bytes(_ value: FieldValue) -> [UInt8] {
        switch value {
        case .string(let text): Array(text.utf8)
        case .bytes(let data): Array(data)
        case .reference(let target): Array(target.recordName.utf8)
        default: []
        }
    }

    private func same(_ one: FieldValue, _ other: FieldValue) -> Bool { order(one, other) == 0 }

    private func order(_ one: FieldValue, _ other: FieldValue) -> Int {
        switch (one, other) {
        case (.int64(let one), .int64(let other)), (.timestamp(let one), .timestamp(let other)):
            one < other ? -1 : one == other ? 0 : 1
        case (.double(let one), .double(let other)): one < other ? -1 : one == other ? 0 : 1
        default: order(bytes(one), bytes(other))
        }
    }

    private func order(_ one: [UInt8], _ other: [UInt8]) -> Int {
        one == other ? 0 : one.lexicographicallyPrecedes(other) ? -1 : 1
    }

    /// Texts are sorted by their first 255 bytes; what has no value comes first, what has no place
    /// is farther than all.
    private func precedes(_ one: Place, _ other: Place, _ sorts: [RecordSort]) -> Bool {
        for sort in sorts {
            let order = order(one, other, by: sort)
            if order != 0 { return (order < 0) == sort.ascending }
        }
        if one.zone != other.zone { return one.zone < other.zone }
        guard one.name != other.name else { return false }
        return (one.name < other.name) == (sorts.first?.ascending ?? true)
    }

    private func order(_ one: Place, _ other: Place, by sort: RecordSort) -> Int {
        let values = [one, other].map { value(records[$0.zone][$0.name] ?? .note(""), sort.field) }
        if let place = sort.relativeLocation {
            let distances = values.map { value -> Double in
                guard case .location(let found)? = value else { return .infinity }
                return metres(found, place)
            }
            return distances[0] < distances[1] ? -1 : distances[0] == distances[1] ? 0 : 1
        }
        guard let left = values[0], let right = values[1] else {
            return (values[0] == nil ? 0 : 1) - (values[1] == nil ? 0 : 1)
        }
        if case .string = left {
            return order(Array(bytes(left).prefix(255)), Array(bytes(right).prefix(255)))
        }
        return order(left, right)
    }

    private func metres(_ one: RecordLocation, _ other: RecordLocation) -> Double {
        let radians = Double.pi / 180
        let across = sin((other.latitude * radians - one.latitude * radians) / 2)
        let along = sin((other.longitude - one.longitude) * .pi / 360)
        let chord =
            across * across
            + cos(one.latitude * radians) * cos(other.latitude * radians) * along * along
        return 2 * 6_371_000 * asin(min(1, chord.squareRoot()))
    }
}
