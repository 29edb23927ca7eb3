<?php

// Stands for the file that Composer generates: it finds the classes of Debian's packages, and those of the tests.
require_once 'Doctrine/ORM/autoload.php';
foreach (['Doctrine/Common/Annotations', 'Symfony/Component/Cache', 'Symfony/Component/Yaml'] as $package) {
    require_once "$package/autoload.php";
}
spl_autoload_register(static function (string $class): void {
    $file = dirname(__DIR__) . '/tests/' . strtr($class, '\\', '/') . '.php';
    if (is_file($file)) {
        require $file;
    }
});
