internal import Foundation
internal import RecordService

/// What `diptych service keys` makes.
struct KeyDeed {
    static let publicKey = Option(
        "public-key", "FILE", "keys: the public half of the key of --add, as PEM")
    static let options = [publicKey]

    private let label: String
    private let file: URL
    private let container: String
    private let environment: String

    /// A key is for the environment that is named, so that none is good for production by default.
    init(label: String, container: String, _ arguments: Arguments) throws {
        self.label = label
        self.container = container
        let names = ["development", "production"]
        guard let file = arguments.file(Self.publicKey),
            let environment = try arguments.choice(SchemaDeed.environment, among: names)
        else {
            throw CommandError(
                "usage", "A key is added with --public-key FILE and --environment NAME.",
                hint: "`openssl ecparam -name prime256v1 -genkey -noout -out key.pem` makes a key, "
                    + "`openssl ec -in key.pem -pubout -out public.pem` its public half.",
                status: .usage)
        }
        (self.file, self.environment) = (file, environment)
    }

    func perform(_ accounts: ServiceAccounts, _ report: ServiceReport) throws {
        guard let data = try? GivenFile.data(file, bytesMax: 65_536),
            let pem = String(data: data, encoding: .utf8)
        else {
            throw CommandError(
                "noFile", "\(file.path) cannot be read as text.",
                hint: "Name the PEM file of a public key.")
        }
        report.print(
            try accounts.addServerKey(
                pem: pem, label: label, container: container, environment: environment))
    }
}
