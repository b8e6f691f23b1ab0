internal import Foundation

/// Where the program starts.
@main
struct Main {
    static func main() async {
        // A connection that ends, or a limit on file sizes, is told by the call that met it.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        let command = Command(
            words: Array(CommandLine.arguments.dropFirst()),
            environment: ProcessInfo.processInfo.environment)
        let status = await command.run()
        exit(status.rawValue)
    }
}
