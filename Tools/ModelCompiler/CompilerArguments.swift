internal import Foundation

/// What `diptych-modelc` is called with.
package enum CompilerArguments {
    static let usage = """
        usage: diptych-modelc --module NAME [--classes FILE] [--accessors FILE] [--compiled FOLDER]
                              [--model MODEL]... [SOURCE.swift]...

        --module NAME      the module that the sources make
        --classes FILE     write the classes that the models ask for
        --accessors FILE   write the accessors of all @NSManaged members
        --compiled FOLDER  write each model as a compiled .momd
        --model MODEL      an .xcdatamodeld or .xcdatamodel; may be repeated

        """

    /// Does what the words of a command line ask for, and ends the program where that fails.
    package static func run(_ words: [String]) {
        let arguments = Array(words.dropFirst())
        if arguments.contains("--help") || arguments.contains("-h") {
            try? FileHandle.standardOutput.write(contentsOf: Data(usage.utf8))
            return
        }
        do {
            try compilation(arguments).run()
        } catch {
            try? FileHandle.standardError.write(contentsOf: Data("\(error)\n".utf8))
            exit(1)
        }
    }

    /// What the arguments ask for. Throws where one is unknown or lacks its value.
    static func compilation(_ arguments: [String]) throws -> ModelCompilation {
        var compilation = ModelCompilation()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("-") else {
                compilation.sources.append(argument)
                continue
            }
            guard let value = rest.popFirst() else {
                throw CompilerError(.arguments, "\(argument) lacks its value; see --help")
            }
            switch argument {
            case "--module": compilation.module = value
            case "--classes": compilation.classesFile = value
            case "--accessors": compilation.accessorsFile = value
            case "--compiled": compilation.compiledFolder = value
            case "--model": compilation.models.append(value)
            default: throw CompilerError(.arguments, "unknown argument \(argument); see --help")
            }
        }
        guard !compilation.module.isEmpty else {
            throw CompilerError(.arguments, "--module is missing; see --help")
        }
        return compilation
    }
}
