import CoreData
import Foundation

/// The answers that fetch requests for dictionaries must give, worked out with plain Swift.
struct RequestOracle {
    /// One row of the table.
    struct Line {
        var name: String
        var age: Int
        var score: Double?
        var active: Bool
        var department: String?
    }

    /// A value of an answer.
    enum Value: Equatable {
        case none
        case number(Double)
        case text(String)

        /// Missing values come first.
        static func precedes(_ left: Value, _ right: Value) -> Bool? {
            switch (left, right) {
            case (.none, .none): nil
            case (.none, _): true
            case (_, .none): false
            case (.number(let a), .number(let b)): a == b ? nil : a < b
            case (.text(let a), .text(let b)): a == b ? nil : a < b
            case (.number, .text): true
            case (.text, .number): false
            }
        }

        /// Equal but for what adding in another order does to the last digits.
        func isNear(_ other: Value) -> Bool {
            guard case .number(let a) = self, case .number(let b) = other else {
                return self == other
            }
            return abs(a - b) <= 1e-9 * max(1, abs(a), abs(b))
        }
    }

    /// What is computed of rows: an attribute, or a function over a group's values of one.
    struct Column {
        var name: String
        var function: String?
        var key: String

        var isNumber: Bool { function == "count:" || key == "age" || key == "score" }

        func value(of group: [Line]) -> Value {
            guard let function else { return group.first?.value(key) ?? .none }
            let values = group.map { $0.value(key) }.filter { $0 != .none }
            if function == "count:" { return .number(Double(values.count)) }
            let numbers = values.compactMap { value -> Double? in
                if case .number(let number) = value { number } else { nil }
            }
            let order: (Value, Value) -> Bool = { Value.precedes($0, $1) == true }
            switch function {
            case "sum:": return .number(numbers.reduce(0, +))
            case "average:":
                return numbers.isEmpty
                    ? .none : .number(numbers.reduce(0, +) / Double(numbers.count))
            case "min:": return values.min(by: order) ?? .none
            default: return values.max(by: order) ?? .none
            }
        }
    }

    /// A request as a value.
    struct Question {
        var filter: Filter?
        var columns: [Column] = []
        var grouping: [String] = []
        var having: (column: Int, isGreater: Bool, bound: Double)?
        var isDistinct = false
        /// By the names of columns.
        var sort: [(name: String, ascending: Bool)] = []
        var limit = 0
        var offset = 0
    }

    struct Filter {
        var format: String
        var holds: (Line) -> Bool
    }

    let lines: [Line]

    func answer(_ question: Question) -> [[String: Value]] {
        let chosen = lines.filter { question.filter?.holds($0) ?? true }
        let isAggregated = question.columns.contains { $0.function != nil }
        var groups: [[Line]] = chosen.map { [$0] }
        if !question.grouping.isEmpty {
            groups = []
            for line in chosen {
                let key = question.grouping.map { line.value($0) }
                let place = groups.firstIndex { group in
                    question.grouping.map { group[0].value($0) } == key
                }
                if let place { groups[place].append(line) } else { groups.append([line]) }
            }
        } else if isAggregated {
            groups = [chosen]
        }
        var found: [(values: [Value], ties: [Value])] = []
        for group in groups {
            let values = question.columns.map { $0.value(of: group) }
            if let having = question.having {
                guard case .number(let number) = values[having.column] else { continue }
                guard having.isGreater ? number > having.bound : number < having.bound else {
                    continue
                }
            }
            if question.isDistinct, found.contains(where: { $0.values == values }) { continue }
            let keys = question.grouping.map { group[0].value($0) }
            found.append((values, question.isDistinct ? values : keys))
        }
        let rest = sorted(found, question).dropFirst(question.offset)
        return (question.limit > 0 ? rest.prefix(question.limit) : rest).map { line in
            Dictionary(uniqueKeysWithValues: zip(question.columns.map(\.name), line.values))
        }
    }

    private func sorted(
        _ found: [(values: [Value], ties: [Value])], _ question: Question
    ) -> [(values: [Value], ties: [Value])] {
        let terms = question.sort.compactMap { term in
            question.columns.firstIndex { $0.name == term.name }.map { ($0, term.ascending) }
        }
        return found.enumerated().sorted { one, other in
            for (column, ascending) in terms {
                let before = Value.precedes(
                    one.element.values[column], other.element.values[column])
                if let before { return before == ascending }
            }
            for (a, b) in zip(one.element.ties, other.element.ties) {
                if let before = Value.precedes(a, b) { return before }
            }
            return one.offset < other.offset
        }.map(\.element)
    }
}

extension RequestOracle.Line {
    func value(_ key: String) -> RequestOracle.Value {
        switch key {
        case "name": .text(name)
        case "age": .number(Double(age))
        case "score": score.map { .number($0) } ?? .none
        case "active": .number(active ? 1 : 0)
        case "department.name": department.map { .text($0) } ?? .none
        default: .number(0)
        }
    }
}

extension RequestOracle.Question {
    /// The question as a fetch request.
    var request: NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: "Person")
        request.resultType = .dictionaryResultType
        request.predicate = filter.map { NSPredicate(format: $0.format) }
        request.propertiesToFetch = columns.map { column -> Any in
            guard let function = column.function else { return column.name }
            let description = NSExpressionDescription()
            description.name = column.name
            description.expression = NSExpression(
                forFunction: function, arguments: [NSExpression(forKeyPath: column.key)])
            return description
        }
        request.propertiesToGroupBy = grouping.isEmpty ? nil : grouping
        if let having {
            let sign = having.isGreater ? ">" : "<"
            request.havingPredicate = NSPredicate(
                format: "$\(columns[having.column].name) \(sign) \(having.bound)")
        }
        request.returnsDistinctResults = isDistinct
        request.sortDescriptors = sort.map {
            NSSortDescriptor(key: $0.name, ascending: $0.ascending)
        }
        request.fetchLimit = limit
        request.fetchOffset = offset
        return request
    }
}

extension RequestOracle.Question: CustomStringConvertible {
    var description: String {
        let names = columns.map { "\($0.function ?? "")\($0.key)" }
        return "\(names) by \(grouping) where \(filter?.format ?? "all") having "
            + "\(having.map { "\($0)" } ?? "-") distinct \(isDistinct) sort \(sort) "
            + "limit \(limit) offset \(offset)"
    }
}

/// Makes random rows and questions; the same seed makes the same ones.
struct RequestMaker {
    private var random: SeededNumbers

    init(seed: UInt64) { random = SeededNumbers(seed) }

    private mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    private mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    mutating func lines(_ count: Int) -> [RequestOracle.Line] {
        (0..<count).map { _ in
            RequestOracle.Line(
                name: ["Ada", "ada", "Bob", "Zoe", "Åsa", "É", "e"][below(7)], age: below(6) * 10,
                score: oneIn(4) ? nil : Double(below(9)) / 4 - 1, active: oneIn(2),
                department: oneIn(4) ? nil : ["Lab", "Sales", "Shop"][below(3)])
        }
    }

    mutating func question() -> RequestOracle.Question {
        var question = RequestOracle.Question()
        question.filter = filter()
        switch below(10) {
        case 0...1:
            question.columns = functions()
            return question
        case 2...4:
            question.columns = keys().map { .init(name: $0, function: nil, key: $0) }
            question.isDistinct = oneIn(2)
        default:
            question.grouping = keys()
            let kept = question.grouping.filter { _ in !oneIn(4) }
            question.columns = kept.map { .init(name: $0, function: nil, key: $0) } + functions()
            let column = Int.random(in: kept.count..<question.columns.count, using: &random)
            if oneIn(3), question.columns[column].isNumber {
                question.having = (column, oneIn(2), Double(below(8)) - 1.5)
            }
            question.isDistinct = oneIn(8)
        }
        let names = question.columns.map(\.name).shuffled(using: &random)
        for name in names.prefix(below(3)) { question.sort.append((name, !oneIn(3))) }
        if oneIn(2) { question.limit = 1 + below(5) }
        if oneIn(3) { question.offset = below(4) }
        return question
    }

    private mutating func keys() -> [String] {
        let all = ["name", "age", "score", "active", "department.name"].shuffled(using: &random)
        return Array(all.prefix(1 + below(2)))
    }

    private mutating func functions() -> [RequestOracle.Column] {
        let numbers = ["age", "score"]
        let all: [(String, [String])] = [
            ("sum:", numbers), ("average:", numbers), ("min:", numbers + ["name"]),
            ("max:", numbers + ["name", "department.name"]),
            ("count:", numbers + ["department.name"]),
        ]
        return (0...below(3)).map { place in
            let (function, keys) = all[below(all.count)]
            return .init(name: "f\(place)", function: function, key: keys[below(keys.count)])
        }
    }

    private mutating func filter() -> RequestOracle.Filter? {
        let bound = below(6) * 10
        switch below(6) {
        case 0: return .init(format: "age > \(bound)") { $0.age > bound }
        case 1:
            return .init(format: "active == YES AND age <= \(bound)") {
                $0.active && $0.age <= bound
            }
        case 2:
            return .init(format: "department.name == 'Lab' OR score > 0") {
                $0.department == "Lab" || ($0.score ?? -1) > 0
            }
        case 3: return .init(format: "score == nil") { $0.score == nil }
        case 4 where oneIn(3): return .init(format: "age > 1000") { _ in false }
        default: return nil
        }
    }
}
