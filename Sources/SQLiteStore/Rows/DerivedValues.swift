internal import SQLiteDriver
internal import Stores

/// Hears of the values that triggers compute, through the SQL functions they call.
final class DerivedValues {
    private let schema: StoreSchema
    private var values: [RowID: [Int: AttributeValue]] = [:]

    /// The functions' names in Apple's triggers. The arguments are the table, the row's entity and
    /// key, the attribute and its new value.
    private static let functions = [
        "NSCoreDataDATriggerUpdatedAffectedObjectValue",
        "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
        "NSCoreDataTriggerUpdateAffectedObjectValue",
    ]

    init(schema: StoreSchema) { self.schema = schema }

    /// Without these functions every write to a table with such triggers fails.
    func register(with connection: Connection) throws {
        for name in Self.functions {
            try connection.register(
                function: name, arguments: 5, isDeterministic: false, isHarmless: true
            ) { [weak self] arguments in
                self?.note(arguments)
                return .null
            }
        }
    }

    private func note(_ arguments: [SQLiteValue]) {
        guard arguments.count == 5,
            let entity = arguments[1].int64.flatMap(Int32.init(exactly:)),
            let key = arguments[2].int64, let name = arguments[3].string,
            let layout = schema.layout.entity(entity), let columns = schema.columns(of: entity),
            case let former = "Z\(name.uppercased())",
            let slot = layout.attributeSlot(name)
                ?? columns.attributes.firstIndex(where: { [name, former].contains($0.name) })
        else { return }
        let id = RowID(entity: entity, key: key)
        values[id, default: [:]][slot] = ValueCoding.value(
            arguments[4], as: columns.attributes[slot].kind)
    }

    /// Hears of a value that was computed on writing.
    func note(_ value: AttributeValue, slot: Int, of id: RowID) {
        values[id, default: [:]][slot] = value
    }

    /// What was heard since the last call.
    @discardableResult
    func take() -> [RowID: [Int: AttributeValue]] {
        defer { values.removeAll() }
        return values
    }
}
