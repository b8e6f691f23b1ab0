// What is rewritten, by what stands at a place.
extension SourcePort {
    /// Reads what begins at `index`; returns where to go on.
    mutating func read(_ index: Int) -> Int {
        guard let token = token(index) else { return index + 1 }
        switch (token.kind, token.text) {
        case (.mark, "@"): return readAttribute(index)
        case (.mark, "#") where isWord("keyPath", at: index + 1): return readKeyPath(index)
        case (.mark, "#") where isWord("selector", at: index + 1): return readSelector(index)
        case (.word, "as"): return readCast(index)
        case (.word, "init") where isMark("(", at: index + 1): return readInitializer(index)
        case (.word, "NSStringFromClass"): return readClassName(index)
        case (.word, "FileProtectionType"): return readProtection(index)
        default: return index + 1
        }
    }

    // MARK: @objc

    private mutating func readAttribute(_ index: Int) -> Int {
        guard isWord("objc", at: index + 1) || isWord("objcMembers", at: index + 1) else {
            return index + 1
        }
        var end = index + 2
        var name: String?
        if isMark("(", at: end), follows(end) {
            let close = endOfBrackets(at: end)
            name = written(end + 1, close - 1)
            end = close
        }
        let what = written(index, end)
        noteDeclaration(after: end, name)
        remove(index, end, what)
        return end
    }

    /// Whether no space is before the token.
    private func follows(_ index: Int) -> Bool {
        token(index)?.range.lowerBound == token(index - 1)?.range.upperBound
    }

    /// Tells of what an attribute did that nothing does here.
    private mutating func noteDeclaration(after end: Int, _ name: String?) {
        for place in end..<(end + 12) {
            guard let token = token(place), !token.isMark("{"), !token.isMark("}") else { return }
            if token.isWord("optional") {
                return leave(
                    place, "@objc optional: give the requirement a default in an extension")
            }
            if token.isWord("class"), let name, let own = self.token(place + 1)?.text, own != name,
                !["func", "var"].contains(own)
            {
                return leave(
                    place, "@objc(\(name)) class \(own): name the class \(own) in the model")
            }
        }
    }

    // MARK: #keyPath and #selector

    private mutating func readKeyPath(_ index: Int) -> Int {
        guard isMark("(", at: index + 2) else { return index + 1 }
        let end = endOfBrackets(at: index + 2)
        let inside = (index + 3)..<(end - 1)
        let isPath = inside.enumerated().allSatisfy { offset, place in
            offset % 2 == 0 ? token(place)?.kind == .word : isMark(".", at: place)
        }
        var steps = inside.compactMap { token($0)?.kind == .word ? token($0)?.text : nil }
        // Types and modules come first, in capitals.
        while steps.count > 1, steps[0] == "self" || steps[0].first?.isUppercase == true {
            steps.removeFirst()
        }
        guard isPath, !steps.isEmpty else {
            leave(index, "\(written(index, end)): write the key path as a text")
            return end
        }
        replace(index, end, with: "\"\(steps.joined(separator: "."))\"", written(index, end))
        return end
    }

    /// The comparisons of sort descriptors that are known by selectors.
    private static let comparisons = [
        "compare": "compare", "caseInsensitiveCompare": "caseInsensitive",
        "localizedCompare": "localized",
        "localizedCaseInsensitiveCompare": "localizedCaseInsensitive",
        "localizedStandardCompare": "localizedStandard",
    ]

    private mutating func readSelector(_ index: Int) -> Int {
        guard isMark("(", at: index + 2) else { return index + 1 }
        let end = endOfBrackets(at: index + 2)
        let names = ((index + 3)..<(end - 1)).compactMap { Self.comparisons[token($0)?.text ?? ""] }
        guard let name = names.last, isMark(":", at: index - 1), isWord("selector", at: index - 2)
        else {
            leave(index, "\(written(index, end)): there are no selectors; call the function")
            return end
        }
        replace(
            index - 2, end, with: "comparison: .\(name)",
            "selector: \(written(index, end))")
        return end
    }

    // MARK: What Foundation lacks

    /// Foundation's function here knows classes of a module's top level alone, and ends the program
    /// at others.
    private mutating func readClassName(_ index: Int) -> Int {
        guard isMark("(", at: index + 1) else { return index + 1 }
        let end = endOfBrackets(at: index + 1)
        let inside = (index + 2)..<(end - 1)
        let isType = inside.enumerated().allSatisfy { offset, place in
            offset % 2 == 0 ? token(place)?.kind == .word : isMark(".", at: place)
        }
        guard isType, inside.count > 2, isWord("self", at: end - 2) else { return end }
        replace(
            index, end, with: "String(reflecting: \(written(index + 2, end - 1)))",
            written(index, end))
        return end
    }

    /// `FileProtectionType.complete as NSObject`: its raw value is what can be cast.
    private mutating func readProtection(_ index: Int) -> Int {
        guard isMark(".", at: index + 1), token(index + 2)?.kind == .word,
            isWord("as", at: index + 3), isWord("NSObject", at: index + 4)
        else { return index + 1 }
        let what = "\(written(index, index + 3)) as NSObject"
        replace(index, index + 3, with: "\(written(index, index + 3)).rawValue", what)
        return index + 5
    }

    // MARK: Casts of requests

    /// `x as! NSFetchRequest<T>`, which never succeeds here, becomes `x.returning(T.self)`.
    private mutating func readCast(_ index: Int) -> Int {
        guard isMark("!", at: index + 1) || isMark("?", at: index + 1),
            isWord("NSFetchRequest", at: index + 2), isMark("<", at: index + 3)
        else { return index + 1 }
        var end = index + 4
        while let token = token(end), token.kind == .word || token.isMark(".") { end += 1 }
        guard isMark(">", at: end), isMark("!", at: index + 1), endsOperand(index - 1),
            let before = token(index - 1), let close = token(end)
        else {
            leave(index, "a cast to NSFetchRequest: use returning(_:)")
            return index + 4
        }
        let type = written(index + 4, end)
        if type == "NSFetchRequestResult" || type.isEmpty {
            leave(index, "a cast to NSFetchRequest: use returning(_:)")
            return end
        }
        replace(
            before.range.upperBound..<close.range.upperBound, with: ".returning(\(type).self)",
            Note(line: before.line, what: "as! NSFetchRequest<\(type)>"))
        return end + 1
    }

    /// Whether a member can be asked of what ends at `index`. A copy is of no known type.
    private func endsOperand(_ index: Int) -> Bool {
        guard let token = token(index) else { return false }
        if token.isMark(")") { return !isWord("copy", at: index - 2) }
        return token.kind == .word || token.isMark("]") || token.isMark("!")
    }

    // MARK: Initializers

    /// Apple's initializers can be overridden without being required; these cannot.
    private mutating func readInitializer(_ index: Int) -> Int {
        let end = endOfBrackets(at: index + 1)
        let isOfEntity =
            isWord("entity", at: index + 2) && written(index + 1, end).contains("insertInto")
        let isOfContext =
            isWord("context", at: index + 2)
            && written(index + 1, end).hasSuffix(":NSManagedObjectContext)")
            && !written(index + 1, end).contains(",")
        let isOfStore =
            isWord("persistentStoreCoordinator", at: index + 2)
            && written(index + 1, end).contains("configurationName")
        guard isOfEntity || isOfContext || isOfStore else { return index + 1 }
        let modifiers = modifiers(before: index)
        let overriding = modifiers.first { isWord("override", at: $0) }
        guard !modifiers.contains(where: { isWord("required", at: $0) }) else {
            return index + 1
        }
        if let overriding {
            replace(overriding, overriding + 1, with: "required", "override of init")
        } else if isOfContext,
            let convenience = modifiers.first(where: { isWord("convenience", at: $0) })
        {
            replace(convenience, convenience + 1, with: "required convenience", "init(context:)")
        }
        return index + 1
    }

    /// The places of the modifiers before a declaration.
    private func modifiers(before index: Int) -> [Int] {
        let known: Set<String> = [
            "override", "required", "convenience", "public", "open", "internal", "private",
            "fileprivate", "package", "nonisolated",
        ]
        var places: [Int] = []
        var place = index - 1
        while let token = token(place), token.kind == .word, known.contains(token.text) {
            places.append(place)
            place -= 1
        }
        return places
    }
}
