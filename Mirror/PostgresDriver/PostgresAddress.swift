internal import CPostgres

/// Where a database is: a URI (`postgresql://…`) or `key=value` words, as libpq takes them.
///
/// What is not said there comes from libpq's variables (PGHOST, PGPASSFILE, PGSERVICE …) and files.
package struct PostgresAddress: Sendable, Hashable, CustomStringConvertible {
    let text: String
    /// What was given, by keyword, but for the password.
    private let words: [String: String]
    /// Whether the text itself holds a password.
    package let hasPassword: Bool

    /// Throws for a text that is no address; what is said of it holds nothing of the text.
    package init(_ text: String) throws(PostgresFault) {
        var problem: UnsafeMutablePointer<CChar>?
        // libpq's own words may hold the whole text, and with it the password.
        defer { PQfreemem(problem) }
        guard !text.utf8.contains(0), let options = PQconninfoParse(text, &problem) else {
            throw PostgresFault(
                message: "The address of the database is no postgresql:// URI and no key=value "
                    + "words as libpq reads them.")
        }
        defer { PQconninfoFree(options) }
        var words: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                words[String(cString: keyword)] = String(cString: value)
            }
            option += 1
        }
        hasPassword = words.removeValue(forKey: "password")?.isEmpty == false
        words["sslpassword"] = nil
        self.text = text
        self.words = words
    }

    /// Host, port and name of the database, without user and password.
    package var description: String {
        let place = [words["host"] ?? words["hostaddr"], words["port"]].compactMap { $0 }
            .joined(separator: ":")
        return "PostgreSQL "
            + [place, words["dbname"] ?? words["service"] ?? ""]
            .filter { !$0.isEmpty }.joined(separator: "/")
    }
}
