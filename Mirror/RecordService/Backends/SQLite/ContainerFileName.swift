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

    /// Whether a file is called as a container's is.
    static func isOne(_ file: String) -> Bool {
        let name = Array(file.utf8.dropLast(suffix.utf8.count))
        guard file.hasSuffix(suffix), name.count > numberDigits, name.count <= nameBytesMax else {
            return false
        }
        let (letters, number) = (name.dropLast(numberDigits), name.suffix(numberDigits))
        return letters.last == UInt8(ascii: "-") && letters.allSatisfy(plain.contains)
            && number.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }

    private static let numberDigits = 16
    private static let nameBytesMax = lettersMax + 1 + numberDigits

    static let suffix = ".sqlite"
    /// The folder beside the service's file.
    static func folder(beside path: String) -> String { path + ".containers" }
}
