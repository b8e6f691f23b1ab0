/// What a container's file is called: names of containers are foreign text, may differ in their
/// letters' case alone, and be longer than a file system takes. The number makes it unique; the
/// letters are for who looks into the folder.
enum ContainerFileName {
    private static let lettersMax = 40
    private static let plain = Set("abcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func text(_ container: String, id: Int64) -> String {
        let letters = container.lowercased().utf8.prefix(lettersMax).map { byte in
            plain.contains(byte) ? Character(UnicodeScalar(byte)) : "_"
        }
        let digits = String(UInt64(bitPattern: id), radix: 16)
        let number = String(repeating: "0", count: 16 - digits.count) + digits
        return String(letters) + "-" + number + suffix
    }

    static let suffix = ".sqlite"
    /// The folder beside the service's file.
    static func folder(beside path: String) -> String { path + ".containers" }
}
