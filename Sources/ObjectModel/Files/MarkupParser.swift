internal import Foundation

#if canImport(FoundationXML)
    internal import FoundationXML
#endif

/// Parses a model file's XML into elements, within limits of size, depth and number.
///
/// Document types are refused before parsing, so no entity is ever expanded and no other file
/// opened.
final class MarkupParser: NSObject, XMLParserDelegate {
    private let file: String
    private var open: [MarkupElement] = []
    private var root: MarkupElement?
    private var elementCount = 0
    private var failure: ModelFileError?
    /// Where the parser first stumbled; it may go on to later lines.
    private var brokenLine: Int?

    private static let depthMax = 64
    private static let elementsMax = 250_000

    private init(file: String) { self.file = file }

    /// Returns the root element of `data`; `file` is its name in errors.
    static func parse(_ data: Data, file: String) throws -> MarkupElement {
        try MarkupProlog(data: data, file: file).check()
        let parser = XMLParser(data: data)
        parser.shouldResolveExternalEntities = false
        let reader = MarkupParser(file: file)
        parser.delegate = reader
        let isComplete = parser.parse()
        if let failure = reader.failure { throw failure }
        guard isComplete, parser.parserError == nil, reader.open.isEmpty, let root = reader.root
        else {
            throw reader.unfinished(
                line: reader.brokenLine ?? parser.lineNumber, cause: parser.parserError)
        }
        return root
    }

    private func unfinished(line: Int, cause: (any Error)?) -> ModelFileError {
        let sentence =
            open.last.map {
                "the XML is broken inside \($0.label), which starts on line \($0.line);"
                    + " expected </\($0.name)>"
            } ?? "the XML is broken; expected one complete <model> element"
        var error = ModelFileError(.malformed, file: file, line: max(line, 1), sentence)
        error.cause = cause
        return error
    }

    private func stop(_ parser: XMLParser, _ sentence: String) {
        failure =
            failure ?? ModelFileError(.tooLarge, file: file, line: parser.lineNumber, sentence)
        parser.abortParsing()
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
        qualifiedName: String?, attributes: [String: String]
    ) {
        guard failure == nil else { return }
        elementCount += 1
        guard elementCount <= Self.elementsMax, open.count < Self.depthMax else {
            return stop(
                parser,
                "the file has more than \(Self.elementsMax) elements or nests them deeper than"
                    + " \(Self.depthMax); no model does")
        }
        let element = MarkupElement(
            name: name, attributes: attributes, file: file, line: parser.lineNumber)
        if let parent = open.last { parent.add(element) } else if root == nil { root = element }
        open.append(element)
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        brokenLine = brokenLine ?? parser.lineNumber
    }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?,
        qualifiedName: String?
    ) {
        if failure == nil { open.removeLast(open.isEmpty ? 0 : 1) }
    }
}

/// What stands before the root element: nothing but the XML declaration and comments is accepted.
private struct MarkupProlog {
    let data: Data
    let file: String

    func check() throws {
        // Foundation's parser traps on bytes that are no UTF-8.
        guard String(validating: data, as: UTF8.self) != nil else { throw notText }
        var rest = data[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        while true {
            rest = rest.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
            if rest.starts(with: Array("<?".utf8)) {
                let declaration = try cut(&rest, through: "?>")
                guard declaration.hasPrefix("<?xml"),
                    declaration.dropFirst(5).first?.isWhitespace == true
                else { throw hasInstruction }
                try checkEncoding(declaration)
            } else if rest.starts(with: Array("<!--".utf8)) {
                _ = try cut(&rest, through: "-->")
            } else if rest.starts(with: Array("<!".utf8)) {
                throw ModelFileError(
                    .malformed, file: file,
                    "the file declares a document type, which model files never do; expected"
                        + " <model>"
                )
            } else {
                guard rest.first == 0x3C else { throw notMarkup }
                return try checkInstructions(rest)
            }
        }
    }

    /// Foundation's parser reads nowhere for an instruction without data (`<?x?>`).
    private func checkInstructions(_ body: Data.SubSequence) throws {
        let mark = Data("<?".utf8)
        var rest = body
        while let place = rest.range(of: mark) {
            // It may stand in a comment.
            guard let comment = rest.range(of: Data("<!--".utf8)),
                comment.lowerBound < place.lowerBound
            else { throw hasInstruction }
            rest = rest[comment.upperBound...]
            _ = try cut(&rest, through: "-->")
        }
    }

    private func checkEncoding(_ declaration: String) throws {
        guard let name = declaration.range(of: "encoding") else { return }
        let value = declaration[name.upperBound...].lowercased()
        guard ["utf-8", "utf8", "us-ascii"].contains(where: value.contains) else { throw notText }
    }

    /// Removes everything up to and including `end` from `rest`, and returns it.
    private func cut(_ rest: inout Data.SubSequence, through end: String) throws -> String {
        guard let range = rest.range(of: Data(end.utf8)) else { throw notMarkup }
        let text = String(decoding: rest[..<range.upperBound], as: UTF8.self)
        rest = rest[range.upperBound...]
        return text
    }

    private var notText: ModelFileError {
        ModelFileError(
            .malformed, file: file, "the file is not in UTF-8; expected encoding=\"UTF-8\"")
    }

    private var hasInstruction: ModelFileError {
        ModelFileError(
            .malformed, file: file,
            "the file has a processing instruction, which model files never do; remove it")
    }

    private var notMarkup: ModelFileError {
        ModelFileError(.notAModel, file: file, "the file is not XML; expected a <model> element")
    }
}
