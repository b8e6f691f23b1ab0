internal import Stores

/// The column of a derived attribute, and the triggers that compute it. The texts of counts and
/// paths are Apple's, to the letter; the others follow their form, and call nothing that Apple's
/// do not.
struct DerivedColumn {
    let table: String
    let column: String
    let entity: String
    let attribute: String

    // MARK: Members with a key of their owner

    func countTriggers(child: String, key: String) -> [String] {
        func parameter(_ name: String, _ event: String, _ side: String, _ value: String) -> String {
            trigger(child, "PARAMETER_\(name)", event, when: "\(side).\(key) NOT NULL")
                + update(value, "Updated", where: "Z_PK = \(side).\(key)")
        }
        let count = "(SELECT IFNULL(COUNT(\(key)), 0) FROM \(child) WHERE \(key) = NEW.Z_PK)"
        return [
            parameter("INSERT", "INSERT", "NEW", "IFNULL(\(column), 0) + 1"),
            parameter("UPDATE_INCREMENT", "UPDATE OF \(key)", "NEW", "\(column) + 1"),
            parameter("UPDATE_DECREMENT", "UPDATE OF \(key)", "OLD", "\(column) - 1"),
            parameter("DELETE", "DELETE", "OLD", "\(column) - 1"),
            sourceTrigger("INSERT", "INSERT", count, "InsertUpdated"),
        ]
    }

    func memberTriggers(
        child: String, key: String, source: String, _ function: Derivation.Aggregate
    ) -> [String] {
        func value(_ owner: String) -> String {
            "(SELECT \(function.sql(over: source)) FROM \(child) WHERE \(key) = \(owner))"
        }
        func parameter(_ name: String, _ event: String, _ side: String, _ more: String = "")
            -> String
        {
            let owner = "\(side).\(key)"
            return trigger(child, "PARAMETER_\(name)", event, when: "\(owner) NOT NULL\(more)")
                + update(value(owner), "Updated", where: "Z_PK = \(owner)")
        }
        return [
            parameter("INSERT", "INSERT", "NEW"),
            parameter("UPDATE_INCREMENT", "UPDATE OF \(key), \(source)", "NEW"),
            parameter(
                "UPDATE_DECREMENT", "UPDATE OF \(key)", "OLD", " AND OLD.\(key) IS NOT NEW.\(key)"),
            parameter("DELETE", "DELETE", "OLD"),
            sourceTrigger("INSERT", "INSERT", value("NEW.Z_PK"), "InsertUpdated"),
        ]
    }

    // MARK: Members in a join table

    func joinTriggers(
        side: JoinSide, source: String?, _ function: Derivation.Aggregate
    ) -> [String] {
        // A pair of a relationship that is its own inverse counts for both of its rows.
        let ends =
            side.isReflexive
            ? [(side.owner, side.member), (side.member, side.owner)] : [(side.owner, side.member)]
        func value(_ owner: String) -> String {
            let pairs = ends.map { "SELECT \($1) AS Z_M FROM \(side.table) WHERE \($0) = \(owner)" }
            let members = "(\(pairs.joined(separator: " UNION ")))"
            guard let source else { return "(SELECT COUNT(*) FROM \(members))" }
            let child = side.destinationTable
            return "(SELECT \(function.sql(over: source)) FROM \(child) "
                + "WHERE Z_PK IN \(members))"
        }
        let owners = ends.map { "NEW.\($0.0)" }
        var triggers = [("INSERT", "NEW"), ("DELETE", "OLD")].map { event, row in
            let keys = ends.map { "\(row).\($0.0)" }.joined(separator: ", ")
            return trigger(side.table, "PARAMETER_\(event)", event)
                + update(value("\(table).Z_PK"), "Updated", where: "Z_PK IN (\(keys))")
        }
        if let source, !owners.isEmpty {
            let pairs = ends.map { "SELECT \($0) FROM \(side.table) WHERE \($1) = NEW.Z_PK" }
            triggers.append(
                trigger(side.destinationTable, "PARAMETER_UPDATE", "UPDATE OF \(source)")
                    + update(
                        value("\(table).Z_PK"), "Updated",
                        where: "Z_PK IN (\(pairs.joined(separator: " UNION ")))"))
        }
        return triggers + [sourceTrigger("INSERT", "INSERT", value("NEW.Z_PK"), "InsertUpdated")]
    }

    // MARK: To-one paths

    func pathTriggers(key: String, parent: String, source: String) -> [String] {
        let value = "(SELECT \(source) FROM \(parent) WHERE Z_PK = NEW.\(key))"
        func parameter(_ name: String, _ event: String, _ told: String) -> String {
            trigger(parent, "PARAMETER_\(name)", event)
                + update("NEW.\(source)", told, where: "\(key) = NEW.Z_PK")
        }
        return [
            sourceTrigger("INSERT", "INSERT", value, "InsertUpdated"),
            sourceTrigger("UPDATE", "UPDATE OF \(key)", value, "Updated"),
            parameter("INSERT", "INSERT", "InsertUpdated"),
            parameter("UPDATE", "UPDATE OF \(source)", "Updated"),
        ]
    }

    // MARK: Rows that are there

    /// The statement that does for all rows what one of `triggers` does for a new one.
    func computation(in triggers: [String]) -> String? {
        let head = trigger(table, "SOURCE_INSERT", "INSERT") + "UPDATE \(table) SET "
        guard let text = triggers.first(where: { $0.hasPrefix(head) })?.dropFirst(head.count),
            let end = text.firstRange(of: " WHERE Z_PK = NEW.Z_PK; SELECT ")
        else { return nil }
        let value = text[..<end.lowerBound].replacing("NEW.", with: "Z_ROW.")
        return "UPDATE \(table) AS Z_ROW SET \(value)"
    }

    // MARK: Parts

    private func sourceTrigger(
        _ name: String, _ event: String, _ value: String, _ told: String
    ) -> String {
        trigger(table, "SOURCE_\(name)", event) + update(value, told, where: "Z_PK = NEW.Z_PK")
    }

    /// The head of a trigger upon a table.
    private func trigger(
        _ watched: String, _ name: String, _ event: String, when condition: String? = nil
    ) -> String {
        "CREATE TRIGGER Z_DA_\(watched)_\(entity)_\(attribute)_\(name) AFTER \(event) "
            + "ON \(watched) FOR EACH ROW \(condition.map { "WHEN (\($0)) " } ?? "")BEGIN "
    }

    /// The body of a trigger: sets the column, and tells the application of the computed value.
    private func update(_ value: String, _ told: String, where condition: String) -> String {
        "UPDATE \(table) SET \(column) = \(value) WHERE \(condition); "
            + "SELECT NSCoreDataDATrigger\(told)AffectedObjectValue('\(table)', Z_ENT, Z_PK, "
            + "'\(attribute)', \(column)) FROM \(table) WHERE \(condition); END"
    }
}

extension Derivation.Aggregate {
    /// The aggregate over a column; a sum of nothing is zero, the others of nothing are nothing.
    fileprivate func sql(over column: String) -> String {
        switch self {
        case .count: "COUNT(\(column))"
        case .sum: "IFNULL(SUM(\(column)), 0)"
        case .minimum: "MIN(\(column))"
        case .maximum: "MAX(\(column))"
        case .average: "AVG(\(column))"
        }
    }
}
