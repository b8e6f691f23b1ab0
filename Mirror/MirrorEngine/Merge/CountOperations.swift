package import RecordWire

/// One count of one object's counter: what one transaction of one store added.
package struct CountOperation: Hashable, Sendable {
    /// The counter's key in records.
    package var property: String
    /// Names the count: all copies of the store that hold it give it one name.
    package var label: String
    package var amount: Int64

    package init(property: String, label: String, amount: Int64) {
        self.property = property
        self.label = label
        self.amount = amount
    }
}

/// The last counts that a record contains, newest first, as they travel with it.
///
/// They are part of the version: what is sent again, from whatever copy, tells the counts in it,
/// so a device knows which of its own are in what it reads. (docs/MERGE.md §3)
package struct CountOperations: Hashable, Sendable {
    /// So many are told. A count that the service took and never answered is recognised as long as
    /// it is among them.
    package static let countsMax = 32

    package var operations: [CountOperation] = []

    package init(_ operations: [CountOperation] = []) { self.operations = operations }

    /// Reads the counts that a record tells; none from a client that tells none.
    package init(_ record: Record) {
        guard case .string(let text)?? = record.fields[RecordNames.counts] else { return }
        for line in text.split(separator: ";").prefix(Self.countsMax) {
            let parts = line.split(separator: " ")
            guard parts.count == 3, let amount = Int64(parts[2]) else { continue }
            operations.append(
                CountOperation(
                    property: String(parts[0]), label: String(parts[1]), amount: amount))
        }
    }

    /// "property label amount", joined by semicolons.
    package var field: FieldValue? {
        guard !operations.isEmpty else { return nil }
        let lines = operations.map { "\($0.property) \($0.label) \($0.amount)" }
        return .string(lines.joined(separator: ";"))
    }

    /// These counts made upon a version that tells `former`.
    package func upon(_ former: CountOperations) -> CountOperations {
        let labels = Set(operations.map(\.label))
        let kept = former.operations.filter { !labels.contains($0.label) }
        return CountOperations(Array((operations + kept).prefix(Self.countsMax)))
    }

    /// The counts of one counter.
    func of(_ property: String) -> CountOperations {
        CountOperations(operations.filter { $0.property == property })
    }

    /// The counts that `other` tells too.
    func within(_ other: CountOperations) -> CountOperations {
        let labels = Set(other.operations.map(\.label))
        return CountOperations(operations.filter { labels.contains($0.label) })
    }

    /// The counts that `other` does not tell.
    func without(_ other: CountOperations) -> CountOperations {
        let labels = Set(other.operations.map(\.label))
        return CountOperations(operations.filter { !labels.contains($0.label) })
    }

    /// The counts made since the newest that both tell; nil where they have none in common.
    func since(_ other: CountOperations) -> CountOperations? {
        let labels = Set(other.operations.map(\.label))
        return operations.firstIndex { labels.contains($0.label) }
            .map { CountOperations(Array(operations[..<$0])) }
    }

    /// All of them together; nil where they overflow.
    var sum: Int64? {
        var sum: Int64 = 0
        for operation in operations {
            let (next, overflow) = sum.addingReportingOverflow(operation.amount)
            guard !overflow else { return nil }
            sum = next
        }
        return sum
    }
}
