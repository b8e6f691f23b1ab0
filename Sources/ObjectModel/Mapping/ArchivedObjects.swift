package import Foundation

/// Archives that hold one object each, as the sources of mapping models keep them.
package enum ArchivedObjects {
    /// The text of the expression in `data`; `file` is its name in errors. Throws `ModelFileError`
    /// for what is no archive, and for an expression that has no text.
    package static func expressionText(in data: Data, file: String) throws -> String {
        let archive = try KeyedArchive(data, file: file)
        let root = try archive.root()
        let text = ArchivedPredicateText().text(ofExpression: root)
        try archive.checkBudget()
        guard let text else {
            throw archive.broken("an expression of class \(root.className) has no text")
        }
        return text
    }

    /// The dictionary in `data`; nil for what is none.
    package static func userInfo(in data: Data, file: String) -> [AnyHashable: Any]? {
        guard let archive = try? KeyedArchive(data, file: file) else { return nil }
        return ArchivedDefault.userInfo(try? archive.root())
    }
}
