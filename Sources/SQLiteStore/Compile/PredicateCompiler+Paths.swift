internal import ObjectModel
internal import Predicates
internal import Stores

extension PredicateCompiler {
    /// What stands at the end of a path from the rows of a scope.
    func resolve(
        _ path: [String], from start: QueryScope, _ variables: [String: QueryScope]
    ) throws -> Operand {
        var scope = start
        for (place, name) in path.enumerated() {
            let rest = Array(path[(place + 1)...])
            guard let columns = schema.columns(of: scope.layout.number) else {
                throw unknownKey(name, scope.layout)
            }
            if let found = try attribute(Array(path[place...]), scope, columns) { return found }
            if let slot = scope.layout.toOneSlot(name) {
                let link = columns.toOnes[slot]
                guard let target = schema.layout.entity(link.destination) else {
                    throw unsupported("The destination of \(name) is not in this store")
                }
                let key: SQLFragment = "\(name: scope.alias).\(name: link.key)"
                if rest.isEmpty || Self.isSelf(rest) { return .object(key, target) }
                if rest.count >= 1, let slot = target.toManySlot(rest[0]) {
                    return try collection(
                        of: key, slot, target, rest: Array(rest.dropFirst()), variables)
                }
                let known = path[...place].joined(separator: ".")
                scope = start.follow(link, from: scope, path: known, to: target)
                continue
            }
            if let slot = scope.layout.toManySlot(name) {
                return try collection(
                    of: "\(name: scope.alias).Z_PK", slot, scope.layout, rest: rest, variables)
            }
            if Self.isSelf([name]), rest.isEmpty {
                return .object("\(name: scope.alias).Z_PK", scope.layout)
            }
            if name == "entity", rest.isEmpty {
                return .value("\(name: scope.alias).Z_ENT", .entity)
            }
            if name == "self" || name == "SELF" { continue }
            throw unknownKey(path.joined(separator: "."), start.layout)
        }
        return .object("\(name: scope.alias).Z_PK", scope.layout)
    }

    private static func isSelf(_ path: [String]) -> Bool {
        path.count == 1 && ["self", "SELF", "objectID"].contains(path[0])
    }

    /// An attribute, an element of a composite, or what texts know of themselves.
    private func attribute(
        _ path: [String], _ scope: QueryScope, _ columns: EntityColumns
    ) throws -> Operand? {
        for length in 1...path.count {
            let name = path[..<length].joined(separator: ".")
            guard let slot = scope.layout.attributeSlot(name) else { continue }
            let column = columns.attributes[slot]
            var sql: SQLFragment = "\(name: scope.alias).\(name: column.name)"
            sql.isFraction = column.kind == .decimal || column.kind == .date
            let rest = path[length...].joined(separator: ".")
            if rest.isEmpty { return .value(sql, ValueKind(column.kind)) }
            switch (rest, ValueKind(column.kind)) {
            case ("length", .text), ("length", .uri):
                return .value("\(name: TextFunctions.length)(\(sql))", .number)
            case ("lowercaseString", .text):
                return .value("\(name: TextFunctions.lower)(\(sql))", .text)
            case ("uppercaseString", .text):
                return .value("\(name: TextFunctions.upper)(\(sql))", .text)
            default: throw unknownKey(path.joined(separator: "."), scope.layout)
            }
        }
        return composite(path, scope, columns)
    }

    /// A composite, at any depth, whose elements have columns.
    private func composite(
        _ path: [String], _ scope: QueryScope, _ columns: EntityColumns
    ) -> Operand? {
        let within = path.joined(separator: ".") + "."
        let elements = zip(scope.layout.attributes, columns.attributes)
            .filter { $0.0.name.utf8.starts(with: within.utf8) }
            .map { "\(name: scope.alias).\(name: $0.1.name)" as SQLFragment }
        return elements.isEmpty ? nil : .composite(elements)
    }

    // MARK: Collections

    /// The members of a to-many relationship; an operator at the end makes one value of them.
    private func collection(
        of owner: SQLFragment, _ slot: Int, _ layout: EntityLayout, rest: [String],
        _ variables: [String: QueryScope]
    ) throws -> Operand {
        guard let place = schema.columns(of: layout.number)?.toManys[slot],
            let member = memberLayout(of: place)
        else {
            throw unsupported("The members of \(layout.toManys[slot].name) are not in this store")
        }
        let collection = MemberSource(
            owner: owner, place: place, member: member, path: rest, variables: variables)
        return try reduce(collection)
    }

    private func memberLayout(of place: ToManyPlace) -> EntityLayout? {
        switch place {
        case .inverse(let members), .owned(let members): schema.layout.entity(members.member)
        case .join(let side): schema.layout.entity(side.destination)
        case .absent: nil
        }
    }

    /// Carries out an operator in the collection's path, such as `@count`.
    func reduce(_ collection: MemberSource) throws -> Operand {
        guard let place = collection.path.firstIndex(where: { $0.hasPrefix("@") }) else {
            return .collection(collection)
        }
        let name = collection.path[place]
        var collection = collection
        collection.path.remove(at: place)
        return try aggregate(name, of: collection)
    }

    /// One value made of all members.
    func aggregate(_ name: String, of collection: MemberSource) throws -> Operand {
        if name == "@count" {
            guard collection.path.isEmpty else { throw unsupported(Self.severalToManys) }
            return .value(
                "(SELECT count(*)\(try rows(of: collection) { _, _ in "1" }.sql))", .number)
        }
        let functions = ["@sum": "sum", "@min": "min", "@max": "max", "@avg": "avg"]
        guard let function = functions[name] else {
            throw self.unsupported("Unsupported function expression \(name)")
        }
        var kind = ValueKind.number
        let rows = try self.rows(of: collection) { member, _ in
            if case .collection = member { throw self.unsupported(Self.severalToManys) }
            guard case .value(let value, let found) = self.unmarked(member), found != .entity else {
                throw self.unsupported(
                    "Unsupported function expression \(name): it needs an attribute")
            }
            kind = found
            return value
        }
        if name == "@sum" || name == "@avg", kind != .number {
            throw self.unsupported("Unsupported function expression \(name): it needs numbers")
        }
        let result: SQLFragment = "(SELECT \(name: function)(\(rows.value))\(rows.sql))"
        let isFraction = rows.value.isFraction
        guard name == "@sum" else { return .value(result.fraction(isFraction), kind) }
        let sum: SQLFragment = "IFNULL(\(result), 0)"
        return .value(sum.fraction(isFraction), .number)
    }

    /// EXISTS over the members for which `test` holds.
    func exists(
        _ collection: MemberSource, _ test: (Operand, QueryScope) throws -> SQLFragment
    ) throws -> SQLFragment {
        var condition: SQLFragment = "1"
        let rows = try self.rows(of: collection) { member, scope in
            // A further to-many on the way is a collection within each member.
            if case .collection(let inner) = member {
                condition = try self.exists(inner, test)
            } else {
                condition = try test(member, scope)
            }
            return "1"
        }
        return "EXISTS (SELECT 1\(rows.sql) AND (\(condition)))"
    }

    /// The members as SQL selects them: FROM and WHERE, what was made of each one's path, and by
    /// what they are ordered, nil where they are not.
    struct MemberRows {
        var sql: SQLFragment
        var value: SQLFragment
        var order: (place: SQLFragment, key: SQLFragment)?
    }

    /// FROM and WHERE of the members, and what `read` makes of each one's path.
    func rows(
        of collection: MemberSource, _ read: (Operand, QueryScope) throws -> SQLFragment
    ) throws -> MemberRows {
        let scope = QueryScope(layout: collection.member, names: names)
        let alias = scope.alias
        var (from, link, place) = try source(of: collection, alias: alias)
        let filters = try collection.filters.map { predicate, variable in
            var variables = collection.variables
            variables[variable] = scope
            // Paths of the condition start at the outer object, which a variable stands for here.
            let outer = variables[Self.outerVariable] ?? scope
            return try condition(predicate, Context(scope: outer, variables: variables))
        }
        let value = try read(
            resolve(collection.path, from: scope, collection.variables), scope)
        from = "\(from)\(scope.joins)"
        for filter in filters { link = "\(link) AND (\(filter))" }
        return MemberRows(
            sql: " FROM \(from) WHERE \(link)", value: value,
            order: place.map { ($0, "\(name: alias).Z_PK") })
    }

    static let severalToManys = "multiple to-many keys not allowed here"

    /// Under this name a subquery knows the object that the whole predicate is evaluated for.
    static let outerVariable = ""

    private func source(
        of collection: MemberSource, alias: String
    ) throws -> (from: SQLFragment, link: SQLFragment, place: SQLFragment?) {
        switch collection.place {
        case .inverse(let members), .owned(let members):
            return (
                "\(name: members.table) \(name: alias)",
                "\(name: alias).\(name: members.key) = \(collection.owner)",
                members.order.map { "\(name: alias).\(name: $0)" }
            )
        case .join(let side):
            let join = names.next()
            var table: SQLFragment = "\(name: side.table)"
            if side.isReflexive {
                table = """
                    (SELECT \(name: side.owner), \(name: side.member) FROM \(name: side.table) \
                    UNION SELECT \(name: side.member), \(name: side.owner) FROM \(name: side.table))
                    """
            }
            return (
                """
                \(table) \(name: join) JOIN \(name: side.destinationTable) \(name: alias) \
                ON \(name: alias).Z_PK = \(name: join).\(name: side.member)
                """,
                "\(name: join).\(name: side.owner) = \(collection.owner)",
                side.isReflexive ? nil : side.order.map { "\(name: join).\(name: $0)" }
            )
        case .absent: throw unsupported("The members of a relationship are not in this store")
        }
    }
}
