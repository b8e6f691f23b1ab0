/// Writes the symbol of a member as the Swift compiler does, with its abbreviations of words and of
/// whatever was named before. Source: docs/ABI/Mangling.rst of the Swift repository.
struct SymbolWriter {
    private var buffer: [UInt8] = []
    private var known: [Named: Int] = [:]
    private var words: [[UInt8]] = []
    private var lastAbbreviation: Abbreviation?

    /// What may be abbreviated when it is named again.
    private enum Named: Hashable {
        case identifier(String)
        case type(ResolvedType)
        case declaration(NominalType)
    }

    /// The last abbreviation written: neighbours of one kind are joined.
    private struct Abbreviation {
        var isStandard: Bool
        var count: Int
        /// Where its count or letter begins.
        var start: Int
        var end: Int
    }

    /// Which accessor of a property.
    enum Accessor: String {
        case getter = "vg"
        case setter = "vs"
    }

    /// The symbol of a property's accessor. `discriminator` is the file's, for a private property.
    static func symbol(
        of property: String, _ accessor: Accessor, type: ResolvedType, in owner: NominalType,
        discriminator: String?
    ) -> String {
        var writer = SymbolWriter()
        writer.write(owner)
        writer.writeName(property, discriminator)
        writer.write(type)
        writer.append(accessor.rawValue)
        return writer.symbol
    }

    /// The symbol of a method without a result.
    static func symbol(
        of function: String, labels: [String?], types: [ResolvedType], in owner: NominalType,
        discriminator: String?
    ) -> String {
        var writer = SymbolWriter()
        writer.write(owner)
        writer.writeName(function, discriminator)
        if labels.allSatisfy({ $0 == nil }) {
            if !labels.isEmpty { writer.append("y") }
        } else {
            for label in labels {
                if let label { writer.writeIdentifier(label) } else { writer.append("_") }
            }
        }
        writer.append("y")
        writer.writeParameters(types, isLabelled: labels.contains { $0 != nil })
        writer.append("F")
        return writer.symbol
    }

    private init() {}

    private var symbol: String { "$s" + String(decoding: buffer, as: UTF8.self) }

    private mutating func append(_ text: String) { buffer += Array(text.utf8) }

    private mutating func writeName(_ name: String, _ discriminator: String?) {
        writeIdentifier(name)
        guard let discriminator else { return }
        writeIdentifier(discriminator)
        append("LL")
    }

    private mutating func writeParameters(_ types: [ResolvedType], isLabelled: Bool) {
        if types.count == 1, !isLabelled { return write(types[0]) }
        if types.isEmpty { return append("y") }
        for (index, type) in types.enumerated() {
            write(type)
            if index == 0 { append("_") }
        }
        append("t")
    }

    // MARK: Types

    private mutating func write(_ type: ResolvedType) {
        switch type {
        case .standard(let letter): writeStandard(letter)
        case .nominal(let nominal): write(nominal)
        case .any: append("yp")
        case .anyObject: append("yXl")
        case .existential(let nominal):
            write(nominal)
            append("_p")
        case .optional, .bound: writeGeneric(type)
        }
    }

    private mutating func writeGeneric(_ type: ResolvedType) {
        if abbreviate(.type(type)) { return }
        switch type {
        case .optional(let wrapped):
            write(wrapped)
            append("Sg")
        case .bound(let base, let arguments):
            write(base)
            append("y")
            for argument in arguments { write(argument) }
            append("G")
        case .standard, .nominal, .any, .anyObject, .existential: break
        }
        remember(.type(type))
    }

    private mutating func write(_ nominal: NominalType) {
        guard let step = nominal.path.last else { return }
        if abbreviate(.declaration(nominal)) { return }
        if let outer = nominal.outer {
            write(outer)
        } else if nominal.module == "Swift" {
            append("s")
        } else {
            writeIdentifier(nominal.module)
        }
        writeName(step.name, step.discriminator)
        if step.kind != .protocol { append(step.kind.rawValue) }
        remember(.declaration(nominal))
    }

    // MARK: Abbreviations

    private mutating func remember(_ named: Named) { known[named] = known.count }

    private mutating func abbreviate(_ named: Named) -> Bool {
        guard let index = known[named] else { return false }
        guard index < 26 else {
            append(index == 26 ? "A_" : "A\(index - 27)_")
            return true
        }
        let letter = UInt8(ascii: "A") + UInt8(index)
        if !join(letter, isStandard: false) {
            append("A")
            appendAbbreviation(letter, isStandard: false)
        }
        return true
    }

    private mutating func writeStandard(_ letter: Character) {
        guard let letter = letter.asciiValue else { return }
        if join(letter, isStandard: true) { return }
        append("S")
        appendAbbreviation(letter, isStandard: true)
    }

    private mutating func appendAbbreviation(_ letter: UInt8, isStandard: Bool) {
        lastAbbreviation = Abbreviation(
            isStandard: isStandard, count: 1, start: buffer.count, end: buffer.count + 1)
        buffer.append(letter)
    }

    /// Joins an abbreviation to the one that ends here: `SiSi` is `S2i`, `ABAC` is `AbC`.
    private mutating func join(_ letter: UInt8, isStandard: Bool) -> Bool {
        guard var last = lastAbbreviation, last.isStandard == isStandard, last.end == buffer.count,
            let former = buffer.last
        else { return false }
        if former == letter {
            last.count += 1
            buffer.removeSubrange(last.start...)
            append(String(last.count))
            buffer.append(letter)
            last.end = buffer.count
            lastAbbreviation = last
            return true
        }
        guard !isStandard else { return false }
        buffer[buffer.count - 1] = former + (UInt8(ascii: "a") - UInt8(ascii: "A"))
        appendAbbreviation(letter, isStandard: false)
        return true
    }

    // MARK: Identifiers

    private mutating func writeIdentifier(_ name: String) {
        if abbreviate(.identifier(name)) { return }
        remember(.identifier(name))
        let plan = WordPlan(Array(name.utf8), known: words)
        words += plan.newWords
        append(plan.text)
    }
}
