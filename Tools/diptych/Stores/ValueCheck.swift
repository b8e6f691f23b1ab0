internal import ObjectModel
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// Looks for values of one entity that are not of their attribute's type, or that are missing where
/// the model wants one. Cost: a pass over the table for each hundred attributes.
struct ValueCheck {
    private let entity: EntityLayout
    private let columns: EntityColumns
    private static let columnsMax = 100
    private static let rowsMax = 100

    init(_ entity: EntityLayout, _ columns: EntityColumns) {
        self.entity = entity
        self.columns = columns
    }

    /// `id` names the object with a key.
    func problems(
        in connection: Connection, id: (SQLiteValue) -> String
    ) throws -> [StoreCheck.Problem] {
        let all = columns.attributes.indices.filter { !columns.attributes[$0].isDerived }
        var found: [StoreCheck.Problem] = []
        for start in stride(from: 0, to: all.count, by: Self.columnsMax) {
            let slots = all[start..<min(start + Self.columnsMax, all.count)]
            let tests = slots.map { "coalesce(\(test(of: $0)), 0)" }
            let own = columns.condition.map { "\($0) AND " } ?? ""
            let rows = try connection.rows(
                "SELECT Z_PK, \(tests.joined(separator: ", ")) FROM \(columns.table) "
                    + "WHERE \(own)(\(tests.joined(separator: " OR "))) LIMIT \(Self.rowsMax)")
            for row in rows {
                for (place, slot) in slots.enumerated() where row[place + 1] != 0 {
                    found.append(problem(slot, isMissing: row[place + 1] == 2, id(row[0])))
                }
            }
        }
        return found
    }

    private func problem(_ slot: Int, isMissing: Bool, _ object: String) -> StoreCheck.Problem {
        let name = entity.attributes[slot].name
        return isMissing
            ? StoreCheck.Problem(
                code: "missingValue", message: "\(name) has no value, and the model wants one.",
                object: object)
            : StoreCheck.Problem(
                code: "badValue", message: "The value of \(name) is not of the attribute's type.",
                object: object)
    }

    /// 0 for a value as it should be, 1 for one of another type, 2 for none where one must be.
    private func test(of slot: Int) -> String {
        let (place, column) = (entity.attributes[slot], columns.attributes[slot])
        // An element of a composite may be missing with the whole.
        let isRequired = !place.attribute.isOptional && !place.name.contains(".")
        let none = isRequired ? 2 : 0
        return "CASE WHEN \(column.name) IS NULL THEN \(none) "
            + "WHEN \(Self.fits(column)) THEN 0 ELSE 1 END"
    }

    private static func fits(_ column: AttributeColumn) -> String {
        let type = "typeof(\(column.name))"
        return switch column.kind {
        case .integer, .boolean: "\(type) = 'integer'"
        case .date, .double, .float: "\(type) IN ('integer', 'real')"
        case .decimal: "\(type) <> 'blob'"
        case .text, .uri: "\(type) = 'text'"
        case .uuid: "\(type) = 'blob' AND length(\(column.name)) = 16"
        case .transformable, .binary: "\(type) = 'blob'"
        }
    }
}
